"""A model of 8 billion weights on 4,096 tokens: `python -m benchmarks.billions FOLDER`.

The weights are random numbers in the shapes of LLaMA 3 8B, in bfloat16, 14 GB of them
in FOLDER. Prints the seconds, and the most memory that the run took, with and without
pages of the mapped weights, which the system takes back when it needs them.
"""

import json
import pathlib
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file

D, HEADS, GROUPS, UNITS, WORDS, LAYERS, TOKENS = 4096, 32, 8, 14336, 128256, 32, 4096


def written(folder: pathlib.Path, layers: int) -> int:
    """The model's folder; the number of weights. Layers differ by an order of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "llama",
        "hidden_size": D,
        "intermediate_size": UNITS,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "num_key_value_heads": GROUPS,
        "max_position_embeddings": 8192,
        "vocab_size": WORDS,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "hidden_act": "silu",
    }
    (folder / "config.json").write_text(json.dumps(config))
    rng = np.random.default_rng(0)

    def matrix(rows, columns):
        x = rng.standard_normal((rows, columns), dtype=np.float32)
        return (x / np.float32(np.sqrt(columns))).astype(jnp.bfloat16)

    few = D // HEADS * GROUPS
    shapes = {"self_attn.q_proj": (D, D), "self_attn.k_proj": (few, D)}
    shapes |= {"self_attn.v_proj": (few, D), "self_attn.o_proj": (D, D)}
    shapes |= {"mlp.gate_proj": (UNITS, D), "mlp.up_proj": (UNITS, D)}
    shapes |= {"mlp.down_proj": (D, UNITS)}
    first = {name: matrix(*shape) for name, shape in shapes.items()}
    ones = np.ones(D, jnp.bfloat16)
    words = {"embed_tokens.weight": matrix(WORDS, D), "norm.weight": ones}
    save_file(words, folder / "words.safetensors")
    for k in range(layers):
        start = f"layers.{k}."
        arrays = {f"{start}{n}.weight": np.roll(a, k, 0) for n, a in first.items()}
        for name in ("input_layernorm", "post_attention_layernorm"):
            arrays[f"{start}{name}.weight"] = ones
        save_file(arrays, folder / f"layer-{k:02d}.safetensors")
    return WORDS * D + layers * sum(a.size for a in first.values())


class Watch(threading.Thread):
    """The most memory of this process so far, read fifty times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.own = self.all = 0

    def run(self):
        while True:
            lines = pathlib.Path("/proc/self/status").read_text().splitlines()
            seen = dict(line.split(":", 1) for line in lines)
            self.own = max(self.own, int(seen["RssAnon"].split()[0]))
            self.all = max(self.all, int(seen["VmRSS"].split()[0]))
            time.sleep(0.02)


def main(folder: str, layers: int = LAYERS, tokens: int = TOKENS) -> None:
    """Write the model unless it is there, run it, and say what that took."""
    path = pathlib.Path(folder)
    started = time.perf_counter()
    count = written(path, layers)
    print(f"{count / 1e9:.2f} billion weights, {time.perf_counter() - started:.0f} s")
    from pushforward import probe

    watch = Watch()
    watch.start()
    ids = np.random.default_rng(1).integers(0, WORDS, tokens)
    started = time.perf_counter()
    recording = probe.run(path, ids)
    took = time.perf_counter() - started
    print(
        f"{recording!r}\n{took:.1f} s on {jax.devices()[0].device_kind}; most memory "
        f"{watch.own / 2**20:.1f} GiB, {watch.all / 2**20:.1f} with mapped pages"
    )
    stats = jax.devices()[0].memory_stats()
    if stats:
        print(f"on the device {stats['peak_bytes_in_use'] / 2**30:.1f} GiB")
    for k in range(0, layers + 1, max(layers // 4, 1)):
        x = recording.hidden[k]
        mean = (x / np.linalg.norm(x, axis=1, keepdims=True)).mean(axis=0)
        print(f"layer {k}: squared length of the mean direction {mean @ mean:.4f}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
