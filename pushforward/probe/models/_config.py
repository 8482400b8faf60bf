"""What a config.json says, in one vocabulary, whatever its family calls things."""

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.probe.models._families import FAMILIES, GATED_T5, Family
from pushforward.probe.models._layer import ACTIVATIONS

OTHERWISE = (
    "Pass its transformers object, or save its hidden states: docs/probe.md says how."
)


def read_config(folder: pathlib.Path) -> dict:
    """config.json of a model folder."""
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no config.json. A model folder holds config.json, "
            "model.safetensors and tokenizer.json."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"config.json of {folder} cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise InputError(f"config.json of {folder} must be an object.")
    return found


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The numbers of a configuration: d, layers, heads, groups that share keys, ..."""

    d: int
    depth: int
    heads: int
    groups: int
    width: int
    m: int
    context: int
    vocabulary: int
    eps: float


def family_of(config: dict[str, Any]) -> Family:
    """The family of a configuration, with what it changes; or what is not known."""
    kind = config["model_type"]
    family = FAMILIES[kind]
    if kind == "opt" and not config.get("do_layer_norm_before", True):
        family = replace(
            family,
            attention_norms={"after": family.attention_norms["before"]},
            perceptron_norms={"after": family.perceptron_norms["before"]},
            last=None,
        )
    if kind == "opt" and config.get("word_embed_proj_dim") in (
        None,
        config["hidden_size"],
    ):
        family = replace(family, widen=None)
    if kind == "electra" and config["embedding_size"] == config["hidden_size"]:
        family = replace(family, lift=None)
    if kind == "gpt_neox" and not config.get("use_parallel_residual", True):
        family = replace(family, beside=False)
    if kind == "gpt2" and not config.get("scale_attn_weights", True):
        family = replace(family, scores=1.0)
    if kind == "t5" and str(config.get("feed_forward_proj", "")).startswith("gated"):
        family = GATED_T5
    _refuse(config)
    return family


def _refuse(config: dict[str, Any]) -> None:
    """What would change the forward pass and is not known here."""
    plain = {
        "position_embedding_type": ("absolute", "rotary"),
        "is_decoder": (False,),
        "num_hidden_groups": (1,),
        "inner_group_num": (1,),
        "scale_attn_by_inverse_layer_idx": (False,),
        "use_bidirectional_attention": (False,),
        "_remove_final_layer_norm": (False,),
    }
    for name, known in plain.items():
        if config.get(name) is not None and config[name] not in known:
            raise InputError(
                f"`{name}` = {config[name]!r} of this configuration is not known here; "
                f"known: {known[0]!r}. {OTHERWISE}"
            )


def sizes_of(config: dict[str, Any], family: Family) -> Sizes:
    """The sizes, under whichever name the family gives them."""

    def get(*names: str, default: Any = None) -> Any:
        for name in names:
            if config.get(name) is not None:
                return config[name]
        if default is None:
            raise InputError(f"config.json has no `{names[0]}`. Is it complete?")
        return default

    d = get("hidden_size", "n_embd", "d_model", "dim")
    heads = get("num_attention_heads", "n_head", "num_heads", "n_heads")
    context = 10**6 if family.relative else None
    if family.patches:
        context = 1 + (config["image_size"] // config["patch_size"]) ** 2
    context = context or get("max_position_embeddings", "n_positions")
    if family.counted_from_pad:
        context -= config["pad_token_id"] + 1
    eps = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon")
    inner = ("intermediate_size", "n_inner", "d_ff", "ffn_dim", "hidden_dim")
    return Sizes(
        d=d,
        depth=get("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
        heads=heads,
        groups=get("num_key_value_heads", default=heads),
        width=get("head_dim", "d_kv", default=d // heads),
        m=get(*inner, default=4 * d),
        context=context,
        vocabulary=get("vocab_size", default=1),
        eps=float(get(*eps, default=1e-5 if family.causal else 1e-12)),
    )


def activation_of(config: dict[str, Any]) -> str:
    """The name of a nonlinearity that is known here."""
    keys = ("hidden_activation", "hidden_act", "activation_function", "dense_act_fn")
    found = [config[key] for key in (*keys, "activation") if config.get(key)]
    if not found and "feed_forward_proj" in config:
        found = [config["feed_forward_proj"].removeprefix("gated-")]
        found = ["gelu_new" if found == ["gelu"] else found[0]]
    if not found or found[0] not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        said = repr(found[0]) if found else "that config.json does not name"
        raise InputError(f"the activation {said} is not known; known: {known}.")
    return found[0]


def windows_of(config: dict[str, Any], family: Family, sizes: Sizes) -> list[int]:
    """How far back each layer sees; the context where it sees everything."""
    window = config.get("sliding_window")
    kinds = config.get("layer_types")
    if not window or config.get("use_sliding_window") is False:
        return [sizes.context] * sizes.depth
    if kinds is None and "max_window_layers" in config:
        near = [k >= config["max_window_layers"] for k in range(sizes.depth)]
    elif kinds is None:
        every = config.get("sliding_window_pattern") or family.window_every
        near = [every == 1 or bool((k + 1) % every) for k in range(sizes.depth)]
    else:
        near = [kind == "sliding_attention" for kind in kinds]
    return [
        min(window, sizes.context) if is_near else sizes.context for is_near in near
    ]


def rates_of(
    config: dict[str, Any], sizes: Sizes, layer: int
) -> Float[np.ndarray, "r"]:
    """The angles per token of rotary positions: base^{-2r/k}, stretched as asked."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kinds = config.get("layer_types")
    local = config.get("rope_local_base_freq")
    if kinds and kinds[layer] in rope:
        rope = rope[kinds[layer]]
    elif local and kinds is None:
        every = config.get("sliding_window_pattern") or 6
        rope = {"rope_theta": local} if (layer + 1) % every else rope
    elif local and kinds and kinds[layer] == "sliding_attention":
        rope = {"rope_theta": local}
    base = (
        rope.get("rope_theta")
        or config.get("rope_theta")
        or config.get("rotary_emb_base")
        or 10_000.0
    )
    part = rope.get("partial_rotary_factor") or config.get("partial_rotary_factor")
    turned = int(sizes.width * (part or config.get("rotary_pct") or 1.0))
    rates = float(base) ** (-np.arange(0, turned, 2) / turned)
    return _stretched(rates, rope, sizes)


def _stretched(rates: np.ndarray, rope: dict[str, Any], sizes: Sizes) -> np.ndarray:
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind in ("default", "dynamic"):  # dynamic: as default within the context
        return rates
    if kind == "linear":
        return rates / rope["factor"]
    if kind != "llama3":
        raise InputError(
            f"rotary positions of type {kind!r} are not known; known: default, "
            f"dynamic, linear, llama3. {OTHERWISE}"
        )
    turns = rope.get("original_max_position_embeddings", sizes.context)
    turns = turns * rates / (2 * np.pi)  # in the text the model was first trained on
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    fast = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return fast * rates + (1 - fast) * rates / rope["factor"]


def prefix_of(family: Family, arrays: Mapping[str, Any]) -> str:
    """What stands before all names of this file."""
    probe = family.layer.format(0)
    for prefix in (*family.prefixes, ""):
        if any(name.startswith(prefix + probe) for name in arrays):
            return prefix
    return ""


def not_known(config: dict[str, Any], arrays: Mapping[str, Any]) -> str:
    """A family that is not known: what of it looks like one that is."""
    kind = config.get("model_type")
    said = f"models of type {kind!r} are not known; known: {', '.join(FAMILIES)}."
    best: tuple[int, str, list[str]] = (0, "", [])
    for name, family in FAMILIES.items():
        prefix = prefix_of(family, arrays)
        start = prefix + family.layer.format(0)
        inside = sorted(n.removeprefix(start) for n in arrays if n.startswith(start))
        parts = (*family.attention, *family.perceptron, *family.head_norms)
        parts += (*family.attention_norms.values(), *family.perceptron_norms.values())
        left = [n for n in inside if n.rpartition(".")[0] not in parts]
        if len(inside) - len(left) > best[0]:
            best = (len(inside) - len(left), name, left)
    if best[0]:
        odd = ", ".join(best[2][:4]) or "none by name, but the type is another"
        said += f" Its layers are most like {best[1]}; parts not recognised: {odd}."
    return f"{said} {OTHERWISE}"
