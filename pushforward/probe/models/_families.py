"""The families of models that are known, as data: where weights are, what is special.

[devlin2019bert, lan2020albert, radford2019gpt2, touvron2023llama]
"""

import dataclasses
from dataclasses import replace

Names = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Family:
    """Where a family keeps its weights, and how its layers are put together.

    Names are relative to one of `prefixes` and, inside a layer, to `layer`. `attention`
    names Q, K, V, O, or one matrix of all of Q, K, V and O; `by_head` says that its
    rows go head by head. `perceptron` names A, W and a gate G, or G and A in one. A
    norm is named by its place before, inside or after its sublayer. `biases` says
    whether linear maps have them (None: where the file has). `unit_gain` is added to
    gains. `scores` is the factor of scores where it is not 1/sqrt(width).
    """

    layer: str
    attention: tuple[str, ...]
    perceptron: tuple[str, ...]
    attention_norms: Names
    perceptron_norms: Names
    prefixes: tuple[str, ...] = ()
    words: str = "embed_tokens"
    positions: str | None = None
    kind: str | None = None
    embedding_norm: str | None = None
    widen: str | None = None
    lift: str | None = None
    last: str | None = None
    relative: str | None = None
    head_norms: tuple[str, ...] = ()
    patches: str | None = None
    causal: bool = True
    rms: bool = False
    unit_gain: float = 0.0
    rotary: bool = False
    beside: bool = False
    by_head: bool = False
    transposed: bool = False
    shared: bool = False
    scaled_words: bool = False
    counted_from_pad: bool = False
    skipped: int = 0
    biases: bool | None = True
    scores: float | None = None
    window_every: int = 1
    ignored: tuple[str, ...] = ()


BERT = Family(
    prefixes=("bert.",),
    layer="encoder.layer.{}.",
    attention=(
        *(f"attention.self.{name}" for name in ("query", "key", "value")),
        "attention.output.dense",
    ),
    perceptron=("intermediate.dense", "output.dense"),
    attention_norms={"after": "attention.output.LayerNorm"},
    perceptron_norms={"after": "output.LayerNorm"},
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    kind="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
    causal=False,
)
ROBERTA = replace(BERT, prefixes=("roberta.",), counted_from_pad=True)
ELECTRA = replace(BERT, prefixes=("electra.",), lift="embeddings_project")
DISTILBERT = replace(
    BERT,
    prefixes=("distilbert.",),
    layer="transformer.layer.{}.",
    attention=tuple(f"attention.{name}_lin" for name in ("q", "k", "v", "out")),
    perceptron=("ffn.lin1", "ffn.lin2"),
    attention_norms={"after": "sa_layer_norm"},
    perceptron_norms={"after": "output_layer_norm"},
    kind=None,
)
ALBERT = replace(
    BERT,
    prefixes=("albert.",),
    layer="encoder.albert_layer_groups.{}.albert_layers.0.",
    attention=tuple(f"attention.{name}" for name in ("query", "key", "value", "dense")),
    perceptron=("ffn", "ffn_output"),
    attention_norms={"after": "attention.LayerNorm"},
    perceptron_norms={"after": "full_layer_layer_norm"},
    lift="encoder.embedding_hidden_mapping_in",
    shared=True,
)
VIT = replace(
    BERT,
    prefixes=("vit.",),
    attention=(
        *(f"attention.attention.{name}" for name in ("query", "key", "value")),
        "attention.output.dense",
    ),
    attention_norms={"before": "layernorm_before"},
    perceptron_norms={"before": "layernorm_after"},
    words="",
    positions="embeddings.position_embeddings",
    kind=None,
    embedding_norm=None,
    patches="embeddings.patch_embeddings.projection",
    last="layernorm",
)
GPT2 = Family(
    prefixes=("transformer.",),
    layer="h.{}.",
    attention=("attn.c_attn", "attn.c_proj"),
    perceptron=("mlp.c_fc", "mlp.c_proj"),
    attention_norms={"before": "ln_1"},
    perceptron_norms={"before": "ln_2"},
    words="wte",
    positions="wpe",
    last="ln_f",
    transposed=True,
    ignored=("attn.bias", "attn.masked_bias"),
)
NEOX = Family(
    prefixes=("gpt_neox.",),
    layer="layers.{}.",
    attention=("attention.query_key_value", "attention.dense"),
    perceptron=("mlp.dense_h_to_4h", "mlp.dense_4h_to_h"),
    attention_norms={"before": "input_layernorm"},
    perceptron_norms={"before": "post_attention_layernorm"},
    words="embed_in",
    last="final_layer_norm",
    rotary=True,
    beside=True,
    by_head=True,
    biases=None,
    ignored=(
        *("attention.bias", "attention.masked_bias"),
        "attention.rotary_emb.inv_freq",
    ),
)
OPT = Family(
    prefixes=("model.decoder.", "decoder."),
    layer="layers.{}.",
    attention=tuple(f"self_attn.{name}_proj" for name in ("q", "k", "v", "out")),
    perceptron=("fc1", "fc2"),
    attention_norms={"before": "self_attn_layer_norm"},
    perceptron_norms={"before": "final_layer_norm"},
    positions="embed_positions",
    widen="project_in",
    last="final_layer_norm",
    skipped=2,
    biases=None,
)
LLAMA = Family(
    prefixes=(
        *("model.language_model.", "language_model.model.", "language_model."),
        "model.",
    ),
    layer="layers.{}.",
    attention=tuple(f"self_attn.{name}_proj" for name in "qkvo"),
    perceptron=("mlp.up_proj", "mlp.down_proj", "mlp.gate_proj"),
    attention_norms={"before": "input_layernorm"},
    perceptron_norms={"before": "post_attention_layernorm"},
    last="norm",
    rms=True,
    rotary=True,
    biases=None,
    ignored=("self_attn.rotary_emb.inv_freq",),
)
QWEN3 = replace(LLAMA, head_norms=("self_attn.q_norm", "self_attn.k_norm"))
PHI3 = replace(
    LLAMA,
    attention=("self_attn.qkv_proj", "self_attn.o_proj"),
    perceptron=("mlp.gate_up_proj", "mlp.down_proj"),
)
PHI = replace(
    LLAMA,
    attention=tuple(f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj"))
    + ("self_attn.dense",),
    perceptron=("mlp.fc1", "mlp.fc2"),
    perceptron_norms={"before": "input_layernorm"},
    last="final_layernorm",
    rms=False,
    beside=True,
)
GEMMA = replace(LLAMA, unit_gain=1.0, scaled_words=True)
GEMMA2 = replace(
    GEMMA,
    attention_norms={"before": "input_layernorm", "inside": "post_attention_layernorm"},
    perceptron_norms={
        "before": "pre_feedforward_layernorm",
        "inside": "post_feedforward_layernorm",
    },
    window_every=2,
)
GEMMA3 = replace(GEMMA2, head_norms=QWEN3.head_norms, window_every=6)
T5 = Family(
    layer="encoder.block.{}.layer.",
    attention=tuple(f"0.SelfAttention.{name}" for name in "qkvo"),
    perceptron=("1.DenseReluDense.wi", "1.DenseReluDense.wo"),
    attention_norms={"before": "0.layer_norm"},
    perceptron_norms={"before": "1.layer_norm"},
    words="shared",
    last="encoder.final_layer_norm",
    relative="0.SelfAttention.relative_attention_bias",
    causal=False,
    rms=True,
    biases=False,
    scores=1.0,
)
GATED_T5 = replace(
    T5,
    perceptron=tuple(f"1.DenseReluDense.{name}" for name in ("wi_1", "wo", "wi_0")),
)

# Objects of the newest transformers call the parts of a ViT by other names.
VIT_OBJECT = replace(
    VIT,
    layer="layers.{}.",
    attention=tuple(f"attention.{name}_proj" for name in "qkvo"),
    perceptron=("mlp.fc1", "mlp.fc2"),
)

FAMILIES = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "electra": ELECTRA,
    "distilbert": DISTILBERT,
    "albert": ALBERT,
    "vit": VIT,
    "gpt2": GPT2,
    "gpt_neox": NEOX,
    "opt": OPT,
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": QWEN3,
    "phi": PHI,
    "phi3": PHI3,
    "gemma": GEMMA,
    "gemma2": GEMMA2,
    "gemma3_text": GEMMA3,
    "gemma3": GEMMA3,
    "t5": T5,
}
