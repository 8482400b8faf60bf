"""Random-initialised tiny models of four families as folders, without torch."""

import json

import numpy as np
from safetensors.numpy import save_file

D, HEADS, MLP, WORDS, CONTEXT = 16, 4, 24, 50, 32


def _normal(rng, *shape):
    return rng.normal(0.0, 0.3, shape).astype(np.float32)


def bert(rng, layers=3):
    config = {
        "model_type": "bert",
        "hidden_size": D,
        "intermediate_size": MLP,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "max_position_embeddings": CONTEXT,
        "type_vocab_size": 2,
        "vocab_size": WORDS,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
    }
    arrays = _embeddings(rng, D)
    for k in range(layers):
        start = f"encoder.layer.{k}."
        names = [f"attention.self.{n}" for n in ("query", "key", "value")]
        for name in [*names, "attention.output.dense"]:
            _linear(arrays, rng, start + name, D, D)
        _linear(arrays, rng, start + "intermediate.dense", MLP, D)
        _linear(arrays, rng, start + "output.dense", D, MLP)
        _norm(arrays, rng, start + "attention.output.LayerNorm", D)
        _norm(arrays, rng, start + "output.LayerNorm", D)
    return config, arrays


def albert(rng, layers=3):
    config = bert(rng)[0] | {
        "model_type": "albert",
        "embedding_size": 8,
        "num_hidden_layers": layers,
        "hidden_act": "gelu_new",
        "num_hidden_groups": 1,
        "inner_group_num": 1,
    }
    arrays = _embeddings(rng, 8)
    _linear(arrays, rng, "encoder.embedding_hidden_mapping_in", D, 8)
    start = "encoder.albert_layer_groups.0.albert_layers.0."
    for name in ("query", "key", "value", "dense"):
        _linear(arrays, rng, f"{start}attention.{name}", D, D)
    _linear(arrays, rng, start + "ffn", MLP, D)
    _linear(arrays, rng, start + "ffn_output", D, MLP)
    _norm(arrays, rng, start + "attention.LayerNorm", D)
    _norm(arrays, rng, start + "full_layer_layer_norm", D)
    return config, arrays


def gpt2(rng, layers=3):
    config = {
        "model_type": "gpt2",
        "n_embd": D,
        "n_head": HEADS,
        "n_inner": MLP,
        "n_layer": layers,
        "n_positions": CONTEXT,
        "vocab_size": WORDS,
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
    }
    arrays = {
        "wte.weight": _normal(rng, WORDS, D),
        "wpe.weight": _normal(rng, CONTEXT, D),
    }
    for k in range(layers):
        for name, rows, columns in (
            ("attn.c_attn", D, 3 * D),
            ("attn.c_proj", D, D),
            ("mlp.c_fc", D, MLP),
            ("mlp.c_proj", MLP, D),
        ):
            arrays[f"h.{k}.{name}.weight"] = _normal(rng, rows, columns)
            arrays[f"h.{k}.{name}.bias"] = _normal(rng, columns)
        _norm(arrays, rng, f"h.{k}.ln_1", D)
        _norm(arrays, rng, f"h.{k}.ln_2", D)
    _norm(arrays, rng, "ln_f", D)
    return config, arrays


def llama(rng, layers=3):
    config = {
        "model_type": "llama",
        "hidden_size": D,
        "intermediate_size": MLP,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "vocab_size": WORDS,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1000.0,
        "hidden_act": "silu",
    }
    arrays = {
        "embed_tokens.weight": _normal(rng, WORDS, D),
        "norm.weight": 1 + _normal(rng, D),
    }
    few = D // HEADS * 2
    for k in range(layers):
        start = f"layers.{k}."
        for name, rows, columns in (
            ("self_attn.q_proj", D, D),
            ("self_attn.k_proj", few, D),
            ("self_attn.v_proj", few, D),
            ("self_attn.o_proj", D, D),
            ("mlp.gate_proj", MLP, D),
            ("mlp.up_proj", MLP, D),
            ("mlp.down_proj", D, MLP),
        ):
            arrays[f"{start}{name}.weight"] = _normal(rng, rows, columns)
        for name in ("input_layernorm", "post_attention_layernorm"):
            arrays[f"{start}{name}.weight"] = 1 + _normal(rng, D)
    return config, arrays


FAMILIES = {"bert": bert, "albert": albert, "gpt2": gpt2, "llama": llama}


def folder(path, family, seed=0):
    """Write the family's config.json and model.safetensors; returns both contents."""
    config, arrays = FAMILIES[family](np.random.default_rng(seed))
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    save_file(arrays, path / "model.safetensors")
    return config, arrays


def _embeddings(rng, e):
    arrays = {
        "embeddings.word_embeddings.weight": _normal(rng, WORDS, e),
        "embeddings.position_embeddings.weight": _normal(rng, CONTEXT, e),
        "embeddings.token_type_embeddings.weight": _normal(rng, 2, e),
    }
    _norm(arrays, rng, "embeddings.LayerNorm", e)
    return arrays


def _linear(arrays, rng, name, rows, columns):
    arrays[f"{name}.weight"] = _normal(rng, rows, columns)
    arrays[f"{name}.bias"] = _normal(rng, rows)


def _norm(arrays, rng, name, d):
    arrays[f"{name}.weight"] = 1 + _normal(rng, d)
    arrays[f"{name}.bias"] = _normal(rng, d)
