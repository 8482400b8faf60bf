"""Every family against `transformers`: hidden states, attention, and the split.

Random small configurations with the oddities of each family turned on.
"""

import json
import pathlib

import numpy as np
import pytest

from pushforward import probe
from pushforward.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "vocab_size": 50,
    "max_position_embeddings": 40,
}
GROUPED = SIZES | {"num_key_value_heads": 2}
WIDE = GROUPED | {"head_dim": 16}  # heads * width is 64, not 32
STRETCHED = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
NEAR = ["sliding_attention", "full_attention", "sliding_attention"]
BIASED = {"attention_bias": True, "mlp_bias": True}
T5 = {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 4, "d_kv": 16}
OPT = SIZES | {"ffn_dim": 48}
CONFIGS = {
    "bert": ("Bert", SIZES),
    "roberta": ("Roberta", SIZES),
    "distilbert": (
        "DistilBert",
        SIZES | {"dim": 32, "hidden_dim": 48, "n_layers": 3, "n_heads": 4},
    ),
    "electra": ("Electra", SIZES | {"embedding_size": 16}),
    "albert": ("Albert", SIZES | {"embedding_size": 16}),
    "vit": ("ViT", SIZES | {"image_size": 16, "patch_size": 4}),
    "gpt2": (
        "GPT2",
        {"n_embd": 32, "n_head": 4, "n_layer": 3, "n_positions": 40, "vocab_size": 50},
    ),
    "gpt_neox": ("GPTNeoX", SIZES),
    "gpt_neox, one after the other": (
        "GPTNeoX",
        SIZES | {"use_parallel_residual": False},
    ),
    "opt": ("OPT", OPT | {"word_embed_proj_dim": 16}),
    "opt, norms after": (
        "OPT",
        OPT | {"word_embed_proj_dim": 32, "do_layer_norm_before": False},
    ),
    "llama": ("Llama", WIDE),
    "llama, stretched, biases": (
        "Llama",
        WIDE | BIASED | {"rope_parameters": STRETCHED},
    ),
    "mistral": ("Mistral", WIDE | {"sliding_window": 5}),
    "qwen2": ("Qwen2", GROUPED),
    "qwen3": ("Qwen3", WIDE),
    "phi": ("Phi", SIZES),
    "phi3": ("Phi3", GROUPED | {"pad_token_id": 0}),
    "gemma": ("Gemma", WIDE),
    "gemma2": (
        "Gemma2",
        WIDE | {"sliding_window": 5, "attn_logit_softcapping": 0.5},
    ),
    "gemma3": ("Gemma3Text", WIDE | {"sliding_window": 5, "layer_types": NEAR}),
    "t5": ("T5", T5 | {"vocab_size": 50}),
    "t5, gated": ("T5", T5 | {"vocab_size": 50, "feed_forward_proj": "gated-gelu"}),
}


def made(name):
    """A random model of a family, its gains near one."""
    import torch
    import transformers

    kind, config = CONFIGS[name]
    config = getattr(transformers, f"{kind}Config")(**config)
    model = {"T5": "T5Encoder", "Gemma3Text": "Gemma3Text"}.get(kind, kind) + "Model"
    torch.manual_seed(0)
    model = getattr(transformers, model)(config).eval()
    shifted = not kind.startswith("Gemma")  # Gemma adds one to its gains
    with torch.no_grad():
        for path, weight in model.named_parameters():
            gain = ("norm" in path.lower() or "ln_" in path) and "weight" in path
            scale = 0.3 if weight.ndim > 1 else 0.2
            weight.copy_(scale * torch.randn_like(weight) + float(gain and shifted))
    model.set_attn_implementation("eager")
    return model


def given(name):
    rng = np.random.default_rng(0)
    if name == "vit":
        return rng.normal(size=(3, 16, 16)).astype(np.float32)
    return rng.integers(2, 50, size=20)


def theirs(model, text, matrices=True):
    import torch

    with torch.no_grad():
        batch = torch.as_tensor(text)[None]
        if batch.is_floating_point():
            batch = batch.to(model.dtype)
        return model(batch, output_hidden_states=True, output_attentions=matrices)


def difference(name, model, folder, text):
    """The largest difference of hidden states over their largest entry."""
    out = theirs(model, text)
    states = [s[0].float().numpy() for s in out.hidden_states]
    ours = probe.run(folder, text)
    mine = ours.hidden
    after = states[-1].shape == states[0].shape and name != "vit"
    if after:  # theirs is after the last norm
        mine = np.concatenate([ours.hidden[:-1], ours.inputs[-1:]])
    count = len(states) if states[-1].shape == states[0].shape else -1
    worst = np.abs(mine[:count] - np.stack(states[:count])).max()
    return worst / np.abs(mine).max(), ours, out


def documented(kind, column):
    """What docs/probe.md says of a model type or a name, in one of its two columns."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "probe.md"
    lines = page.read_text().splitlines()
    (row,) = (line for line in lines if line.startswith("|") and f"`{kind}`" in line)
    return float(row.strip("| ").split("|")[-1].split(",")[column])


@pytest.mark.parametrize("name", CONFIGS)
def test_hidden_states_and_attention_equal_transformers(tmp_path, name):
    model, text = made(name), given(name)
    model.save_pretrained(tmp_path)
    found, ours, out = difference(name, model, tmp_path, text)
    assert found < 2 * documented(name.split(",")[0], 0) < 2e-5
    attention = np.stack([a[0].numpy() for a in out.attentions])
    assert np.abs(ours.attention - attention).max() < 1e-4
    for k in range(3):
        split = probe.split_motion(tmp_path, ours, k)
        motion = ours.hidden[k + 1] - ours.hidden[k]
        assert np.abs(split.total - motion).max() < 1e-5 * np.abs(motion).max()
    by_object = probe.run(model, text)
    assert by_object.inputs is not None
    scale = np.abs(ours.hidden).max()
    assert np.abs(by_object.hidden - ours.hidden).max() < 3e-5 * scale


@pytest.mark.parametrize("name", CONFIGS)
def test_half_precision_weights_are_read_as_they_are(tmp_path, name):
    """Weights stored in bfloat16, computed in float32, on both sides."""
    import torch

    model, text = made(name).to(torch.bfloat16), given(name)
    model.save_pretrained(tmp_path)
    found, _, _ = difference(name, reloaded(model, tmp_path), tmp_path, text)
    assert found < 2 * documented(name.split(",")[0], 1) < 2e-5


def reloaded(model, folder):
    """The stored weights in float32; a cast would also round the rotary angles."""
    import torch

    again = type(model).from_pretrained(folder, dtype=torch.float32)
    again.set_attn_implementation("eager")
    return again.eval()


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_shipped_models_equal_transformers(name):
    """A page of text; the 4-bit weights as transformers itself widens them."""
    import torch
    import transformers

    if not {entry.name: entry for entry in probe.models()}[name].present:
        pytest.skip(f"`pushforward models get {name}` has not been run")
    folder = probe.model_folder(name)
    if name == "minilm":
        model = transformers.AutoModel.from_pretrained(folder)
    else:
        from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

        path = str(folder / "model.gguf")
        config = load_gguf_checkpoint(path)["config"]
        names = ("hidden_size", "intermediate_size", "vocab_size", "head_dim")
        names += tuple(n for n in config if n.startswith(("num_", "rope_", "rms_")))
        config = transformers.LlamaConfig(**{n: config[n] for n in names})
        causal = transformers.LlamaForCausalLM(config)
        weights = load_gguf_checkpoint(path, return_tensors=True, model_to_load=causal)
        causal.load_state_dict(weights["tensors"], strict=False)
        model = causal.model
    model = model.eval().to(torch.float32)
    text = probe.run(name, probe.SAMPLE).tokens.ids
    found, _, _ = difference(name, model, name, text)
    assert found < 2 * documented(name, 0) < 1e-5


@pytest.mark.parametrize("kind", ["Bloom", "Mamba", "ModernBert", "Mixtral"])
def test_objects_of_other_families_run_by_their_own_code(kind):
    import transformers

    small = SIZES | {"n_layer": 3, "n_head": 4, "num_local_experts": 2}
    small |= {"pad_token_id": 0, "num_key_value_heads": 2}
    config = getattr(transformers, f"{kind}Config")(**small)
    model = getattr(transformers, f"{kind}Model")(config).eval()
    text = given(kind)
    recording = probe.run(model, text)
    out = theirs(model, text)
    states = np.stack([s[0].numpy() for s in out.hidden_states[:-1]])
    assert np.abs(recording.hidden[:-1] - states).max() < 1e-5
    assert (recording.attention is None) == (kind == "Mamba")
    with pytest.raises(InputError, match="not known here"):
        probe.head_spectra(model, recording, 0)
    found = probe.examine(model, text, most_fitted=1, probes=0)
    assert found.spectra is None and (found.heads is None) == (kind == "Mamba")


def test_attention_is_not_asked_of_code_that_forgets_its_mask_for_it():
    """Falcon, asked for its matrices, lets tokens see later ones."""
    import transformers

    config = transformers.FalconConfig(**SIZES)
    model = transformers.FalconModel(config).eval()
    text = given("falcon")
    recording = probe.run(model, text)
    out = theirs(model, text, matrices=False)
    states = np.stack([s[0].numpy() for s in out.hidden_states[:-1]])
    assert np.array_equal(recording.hidden[:-1], states)
    assert recording.attention is None
    assert np.allclose(probe.run(model, text[:9]).hidden, recording.hidden[:, :9])


def test_objects_of_pairs_and_of_several_modes_tell_their_weights():
    import transformers

    t5 = transformers.T5Config(**T5, vocab_size=50)
    whole = transformers.T5ForConditionalGeneration(t5).eval()
    texts = WIDE | {"sliding_window": 5}
    eyes = SIZES | {"image_size": 16, "patch_size": 4}
    both = transformers.Gemma3Config(
        text_config=texts, vision_config=eyes, mm_tokens_per_image=4
    )
    for model in (whole, transformers.Gemma3ForConditionalGeneration(both).eval()):
        recording = probe.run(model, given("t5"))
        split = probe.split_motion(model, recording, 1)
        motion = recording.hidden[2] - recording.hidden[1]
        assert np.abs(split.total - motion).max() < 1e-4 * np.abs(motion).max()


def test_the_recipe_for_hidden_states_is_three_lines_that_run(tmp_path, monkeypatch):
    import tokenizers
    import transformers

    page = (pathlib.Path(__file__).parents[2] / "docs" / "probe.md").read_text()
    lines = page.split("three lines:")[1].split("and then")[0]
    words = {f"w{k}": k for k in range(50)}
    own = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    own.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=own)
    model, text = made("bert"), " ".join(f"w{k}" for k in range(5, 20))
    monkeypatch.chdir(tmp_path)
    known = {"model": model, "tokenizer": fast, "text": text, "np": np}
    exec("\n".join(line.strip() for line in lines.splitlines()), known)
    found, ours = probe.read_hidden("states.npz"), probe.run(model, text, tokenizer=own)
    assert np.allclose(found.hidden, ours.hidden, atol=1e-5)
    assert np.allclose(found.attention, ours.attention, atol=1e-5)
    assert found.tokens.strings == ours.tokens.strings == tuple(text.split())


def test_tokenizers_neither_pad_nor_cut(tmp_path):
    """Both change what is read, and stay as their owner set them."""
    import tokenizers
    import transformers

    words = {f"w{k}": k for k in range(50)}
    kind = tokenizers.models.WordLevel(words, unk_token="w0")
    own = tokenizers.Tokenizer(kind)
    own.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    own.enable_padding(length=12)
    own.enable_truncation(3)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=own)
    model, text = made("bert"), " ".join(f"w{k}" for k in range(5, 10))
    for tokenizer in (own, fast):
        recording = probe.run(model, text, tokenizer=tokenizer)
        assert recording.tokens.ids.tolist() == [5, 6, 7, 8, 9]
    assert own.padding["length"] == 12 and own.truncation["max_length"] == 3

    class Slow:
        def encode(self, text):
            return [words[word] for word in text.split()]

        def convert_ids_to_tokens(self, ids):
            return [f"w{k}" for k in ids]

    found = probe.examine(model, text, tokenizer=Slow(), probes=0)
    assert found.recording.tokens.strings == tuple(text.split())
    assert repr(found).startswith("Examination(Recording(BertModel, 3 layers, 5 ")
    with pytest.raises(InputError, match="tokenizer="):
        probe.examine(model, text)
    model.save_pretrained(tmp_path / "kept")
    again = transformers.BertModel.from_pretrained(tmp_path / "kept").eval()
    assert probe.run(again, [1, 2, 3]).name == "kept"


def test_an_unknown_folder_says_what_was_not_recognised(tmp_path):
    import transformers

    config = transformers.MixtralConfig(**GROUPED, num_local_experts=2)
    transformers.MixtralModel(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"most like \w+; parts not recognised: \S"):
        probe.load_model(tmp_path)
    model = made("llama")
    model.save_pretrained(tmp_path / "odd")
    path = tmp_path / "odd" / "config.json"
    config = json.loads(path.read_text())
    config["rope_parameters"] = {"rope_type": "yarn", "factor": 2.0}
    path.write_text(json.dumps(config))
    with pytest.raises(InputError, match="'yarn' are not known; known: default"):
        probe.load_model(tmp_path / "odd")
