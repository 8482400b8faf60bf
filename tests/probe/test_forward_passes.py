"""Forward passes against transformers, and against plain loops without it."""

import numpy as np
import pytest
import tiny_folders

from pushforward import probe
from pushforward.errors import InputError

IDS = np.array([7, 1, 3, 3, 44, 9, 20, 31, 2, 5])


@pytest.mark.slow  # torch and transformers are installed by `make soak` alone
@pytest.mark.filterwarnings("ignore")
def test_a_model_in_training_mode_is_refused(tmp_path):
    import transformers

    tiny_folders.folder(tmp_path, "bert")
    model = transformers.BertModel.from_pretrained(tmp_path).train()
    with pytest.raises(InputError, match=r"model\.eval\(\)"):
        probe.record(model, IDS)


def _gelu(x, exact):
    from scipy.special import erf

    if exact:
        return x * 0.5 * (1 + erf(x / np.sqrt(2)))
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _layer_norm(x, gain, bias, eps):
    return np.array([(r - r.mean()) / np.sqrt(r.var() + eps) * gain + bias for r in x])


def _attention(q, k, v, heads, causal):
    """One pair of tokens at a time, in float64."""
    n, d = q.shape
    w = d // heads
    out = np.zeros((n, d))
    for h in range(heads):
        cut = slice(h * w, (h + 1) * w)
        for i in range(n):
            seen = range(i + 1) if causal else range(n)
            score = np.array([q[i, cut] @ k[j, cut] for j in seen]) / np.sqrt(w)
            p = np.exp(score - score.max())
            out[i, cut] = sum(
                a * v[j, cut] for a, j in zip(p / p.sum(), seen, strict=True)
            )
    return out


def _plain_bert(a, layers, shared):
    def linear(name, x):
        return x @ a[f"{name}.weight"].T.astype(float) + a[f"{name}.bias"]

    def norm(name, x):
        return _layer_norm(x, a[f"{name}.weight"], a[f"{name}.bias"], 1e-12)

    x = a["embeddings.word_embeddings.weight"][IDS].astype(float)
    x = x + a["embeddings.position_embeddings.weight"][: len(IDS)]
    x = x + a["embeddings.token_type_embeddings.weight"][0]
    x = norm("embeddings.LayerNorm", x)
    if shared:
        x = linear("encoder.embedding_hidden_mapping_in", x)
    states = [x]
    for k in range(layers):
        if shared:
            s = "encoder.albert_layer_groups.0.albert_layers.0."
            names = [f"{s}attention.{n}" for n in ("query", "key", "value", "dense")]
            rest = [s + "attention.LayerNorm", s + "ffn", s + "ffn_output"]
            rest += [s + "full_layer_layer_norm"]
        else:
            s = f"encoder.layer.{k}."
            names = [f"{s}attention.self.{n}" for n in ("query", "key", "value")]
            names += [s + "attention.output.dense"]
            rest = [s + "attention.output.LayerNorm", s + "intermediate.dense"]
            rest += [s + "output.dense", s + "output.LayerNorm"]
        q, key, v = (linear(n, x) for n in names[:3])
        y = linear(names[3], _attention(q, key, v, tiny_folders.HEADS, False))
        x = norm(rest[0], x + y)
        y = linear(rest[2], _gelu(linear(rest[1], x), exact=not shared))
        x = norm(rest[3], x + y)
        states.append(x)
    return np.stack(states)


def _plain_gpt2(a, layers):
    def linear(name, x):
        return x @ a[f"{name}.weight"].astype(float) + a[f"{name}.bias"]

    x = a["wte.weight"][IDS].astype(float) + a["wpe.weight"][: len(IDS)]
    states = [x]
    for k in range(layers):
        norms = [(a[f"h.{k}.ln_{i}.weight"], a[f"h.{k}.ln_{i}.bias"]) for i in (1, 2)]
        qkv = linear(f"h.{k}.attn.c_attn", _layer_norm(x, *norms[0], 1e-5))
        y = _attention(*np.split(qkv, 3, axis=1), tiny_folders.HEADS, True)
        x = x + linear(f"h.{k}.attn.c_proj", y)
        z = _gelu(linear(f"h.{k}.mlp.c_fc", _layer_norm(x, *norms[1], 1e-5)), False)
        x = x + linear(f"h.{k}.mlp.c_proj", z)
        states.append(x)
    return np.stack(states)


def _turned(x, heads, base):
    """Complex numbers (x_r, x_{r + w/2}) times e^{i position base^{-2r/w}}."""
    w = tiny_folders.D // tiny_folders.HEADS
    out = x.copy()
    for h in range(heads):
        for r in range(w // 2):
            a, b = h * w + r, h * w + r + w // 2
            turn = np.exp(1j * np.arange(len(x)) * base ** (-2 * r / w))
            z = (x[:, a] + 1j * x[:, b]) * turn
            out[:, a], out[:, b] = z.real, z.imag
    return out


def _plain_llama(a, layers):
    def linear(name, x):
        return x @ a[f"{name}.weight"].T.astype(float)

    def rms(name, x):
        scale = np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)
        return x / scale * a[f"{name}.weight"]

    w = tiny_folders.D // tiny_folders.HEADS
    grouped = np.r_[:w, :w, w : 2 * w, w : 2 * w]  # two heads share keys and values
    x = a["embed_tokens.weight"][IDS].astype(float)
    states = [x]
    for k in range(layers):
        s = f"layers.{k}."
        u = rms(s + "input_layernorm", x)
        q = _turned(linear(s + "self_attn.q_proj", u), tiny_folders.HEADS, 1000.0)
        key = _turned(linear(s + "self_attn.k_proj", u), 2, 1000.0)[:, grouped]
        v = linear(s + "self_attn.v_proj", u)[:, grouped]
        y = _attention(q, key, v, tiny_folders.HEADS, True)
        x = x + linear(s + "self_attn.o_proj", y)
        u = rms(s + "post_attention_layernorm", x)
        gate = linear(s + "mlp.gate_proj", u)
        gated = gate / (1 + np.exp(-gate)) * linear(s + "mlp.up_proj", u)
        x = x + linear(s + "mlp.down_proj", gated)
        states.append(x)
    return np.stack(states)


@pytest.mark.parametrize("family", tiny_folders.FAMILIES)
def test_hidden_states_equal_plain_loops(tmp_path, family):
    """No torch: pairs of tokens one by one in float64."""
    _, arrays = tiny_folders.folder(tmp_path, family)
    plain = {
        "bert": lambda: _plain_bert(arrays, 3, False),
        "albert": lambda: _plain_bert(arrays, 3, True),
        "gpt2": lambda: _plain_gpt2(arrays, 3),
        "llama": lambda: _plain_llama(arrays, 3),
    }[family]()
    assert np.abs(probe.run(tmp_path, IDS).hidden - plain).max() < 1e-5


def test_depth_beyond_the_trained_one_needs_shared_weights(tmp_path):
    """P1 figure 1: a weight-shared model may be continued, no other."""
    _, arrays = tiny_folders.folder(tmp_path / "albert", "albert")
    longer = probe.run(tmp_path / "albert", IDS, depth=7)
    assert longer.depth == 7
    assert np.abs(longer.hidden - _plain_bert(arrays, 7, True)).max() < 1e-4
    tiny_folders.folder(tmp_path / "bert", "bert")
    with pytest.raises(InputError, match="shared weights"):
        probe.run(tmp_path / "bert", IDS, depth=4)
    assert probe.run(tmp_path / "bert", IDS, depth=2).depth == 2


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_prefix_never_depends_on_what_follows(tmp_path, family):
    tiny_folders.folder(tmp_path, family)
    whole, part = probe.run(tmp_path, IDS), probe.run(tmp_path, IDS[:6])
    assert np.abs(whole.hidden[:, :6] - part.hidden).max() < 1e-5
