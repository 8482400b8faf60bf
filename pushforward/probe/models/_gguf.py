"""GGUF files: quantized weights and tokenizer of a LLaMA-type model in one file."""

import pathlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from pushforward.errors import InputError
from pushforward.probe.models._text import library
from pushforward.probe.models._weights import Stored

_NAMES = {
    "token_embd.weight": "embed_tokens.weight",
    "output_norm.weight": "norm.weight",
}
_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
CONTROL = 3  # the type of special tokens in the vocabulary


def read_gguf(path: pathlib.Path) -> tuple[dict[str, Any], "Quantized", Any]:
    """Configuration, weights under their names of the hub, and tokenizer (or None)."""
    try:
        import gguf
    except ImportError:
        raise InputError(
            "reading .gguf needs the package `gguf`. Run "
            "`pip install 'pushforward[models]'`."
        ) from None
    try:
        reader = _reader(gguf)(str(path))
        fields = {name: reader.fields[name] for name in reader.fields}
        config = _config(fields)
        heads = (config["num_attention_heads"], config["num_key_value_heads"])
        if any(tensor.name.startswith("rope_freqs") for tensor in reader.tensors):
            raise InputError(
                f"{path.name} stretches its rotary positions by a table, which is not "
                "known here. Use the folder of the model in safetensors."
            )
        tensors = {_name(tensor.name): tensor for tensor in reader.tensors}
        return config, Quantized(tensors, heads, gguf.dequantize), _tokenizer(fields)
    except FileNotFoundError:
        raise InputError(f"no file at {path}. Check the path.") from None
    except InputError:
        raise
    except (
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        OverflowError,
        NotImplementedError,
        OSError,
        struct.error,
    ) as error:
        raise InputError(f"{path.name} is not a GGUF file: {error}.") from None


class Quantized(Stored):
    """The tensors of a GGUF file, dequantized when they are asked for."""

    def __init__(self, tensors: dict[str, Any], heads: tuple[int, int], widened: Any):
        self._tensors, self._heads, self._widened = tensors, heads, widened

    def __getitem__(self, name: str) -> np.ndarray:
        tensor = self._tensors[name]
        weights = self._widened(tensor.data, tensor.tensor_type)
        return _halves(tensor.name, weights, *self._heads)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(int(n) for n in self._tensors[name].shape[::-1])

    def rows(self, name: str) -> "QuantizedRows":
        return QuantizedRows(self._tensors[name], self._widened)


class QuantizedRows:
    """Rows of a quantized table, by index."""

    def __init__(self, tensor: Any, widened: Any):
        self._tensor, self._widened = tensor, widened

    def __getitem__(self, ids: Any) -> np.ndarray:
        chosen = np.ascontiguousarray(self._tensor.data[np.asarray(ids)])
        return self._widened(chosen, self._tensor.tensor_type)


def _reader(gguf: Any) -> Any:
    """Its reader of files, on a plain array.

    It slices the file once for every word of the vocabulary, and a slice of a memory
    map takes ten times as long as one of an array on the same memory.
    """

    class Reader(gguf.GGUFReader):
        @property
        def data(self) -> np.ndarray:
            return self._plain

        @data.setter
        def data(self, mapped: np.ndarray) -> None:
            self._plain = np.asarray(mapped)

    return Reader


def _config(fields: dict[str, Any]) -> dict[str, Any]:
    """The metadata under the names of a config.json."""
    kind = fields["general.architecture"].contents()
    if kind != "llama":
        raise InputError(f"GGUF models of type 'llama' are read, got {kind!r}.")
    stretched = [name for name in fields if ".rope.scaling." in name]
    if stretched:
        raise InputError(
            f"stretched rotary positions of a GGUF file ({stretched[0]}) are not known "
            "here. Use the folder of the model in safetensors."
        )
    get = lambda name: fields[f"llama.{name}"].contents()  # noqa: E731
    return {
        "model_type": "llama",
        "hidden_size": get("embedding_length"),
        "intermediate_size": get("feed_forward_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": get("attention.head_count"),
        "num_key_value_heads": get("attention.head_count_kv"),
        "max_position_embeddings": get("context_length"),
        "rms_norm_eps": get("attention.layer_norm_rms_epsilon"),
        "rope_theta": get("rope.freq_base"),
        "vocab_size": get("vocab_size"),
        "hidden_act": "silu",
    }


def _name(name: str) -> str:
    if not name.startswith("blk."):
        return _NAMES.get(name, name)
    _, k, part, kind = name.split(".")
    return f"layers.{k}.{_PARTS.get(part, part)}.{kind}"


def _halves(name: str, weights: np.ndarray, heads: int, own: int) -> np.ndarray:
    """Rows of Q and K back in the order in which rotary pairs are (r, r + k/2).

    The format stores them so that pairs are neighbors, (2r, 2r + 1).
    """
    part = name.split(".")[-2] if name.startswith("blk.") else ""
    count = {"attn_q": heads, "attn_k": own}.get(part)
    if count is None:
        return weights
    rows, d = weights.shape
    cut = weights.reshape(count, rows // count // 2, 2, d)
    return cut.swapaxes(1, 2).reshape(rows, d)


def _tokenizer(fields: dict[str, Any]) -> Any:
    """Byte-pair encoding with the vocabulary and merges of the file; None if it is of
    another kind, so that the model still runs on token ids."""
    get = lambda name: fields[f"tokenizer.ggml.{name}"].contents()  # noqa: E731
    if get("model") != "gpt2" or get("pre") not in ("smollm", "gpt-2"):
        return None
    tk = library()
    words = get("tokens")
    merges = [tuple(pair.split(" ", 1)) for pair in get("merges")]
    vocabulary = {word: k for k, word in enumerate(words)}
    made = tk.Tokenizer(tk.models.BPE(vocab=vocabulary, merges=merges))
    steps = [tk.pre_tokenizers.ByteLevel(add_prefix_space=False)]
    if get("pre") == "smollm":  # every digit is a token
        steps.insert(0, tk.pre_tokenizers.Digits(individual_digits=True))
    made.pre_tokenizer = tk.pre_tokenizers.Sequence(steps)
    made.decoder = tk.decoders.ByteLevel()
    control = [w for w, t in zip(words, get("token_type"), strict=True) if t == CONTROL]
    made.add_special_tokens([tk.AddedToken(w, special=True) for w in control])
    return made
