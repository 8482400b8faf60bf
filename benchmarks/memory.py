"""Memory of one exact drift, in a process of its own: it must grow like n."""

import json
import subprocess
import sys
from collections.abc import Iterator

SCRIPT = """
import json, sys, time
import jax
import pushforward as pf
n, grad = int(sys.argv[1]), sys.argv[2] == "gradient"
field = lambda mu: pf.Attention(9.0, sums=pf.sums.Exact())(0.0, mu).v
mu = pf.Particles.uniform(pf.Sphere(3), n, key=jax.random.key(0))
small = pf.Particles.uniform(pf.Sphere(3), 2000, key=jax.random.key(0))
run = jax.jit(field)
if grad:
    run = jax.jit(jax.grad(lambda mu: (field(mu) ** 2).sum()))
jax.block_until_ready(run(small))

def peak():
    with open("/proc/self/status") as lines:
        return next(int(a.split()[1]) for a in lines if a.startswith("VmHWM"))

# The peak so far is forgotten: a child inherits that of its parent in getrusage.
with open("/proc/self/clear_refs", "w") as forget:
    forget.write("5")
start = peak()
before = time.perf_counter()
jax.block_until_ready(run(mu))
seconds = time.perf_counter() - before
print(json.dumps({"MB": (peak() - start) / 1024, "seconds": seconds}))
"""


def measured(n: int, what: str) -> dict[str, float]:
    """Megabytes above the start and seconds of one `drift` or `gradient`."""
    command = [sys.executable, "-c", SCRIPT, str(n), what]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows(quick: bool) -> Iterator[dict]:
    """Megabytes above the start, including the compilation for that size."""
    cases = [(8192, "drift")] if quick else [(65536, "drift"), (8192, "gradient")]
    for n, what in cases:
        found = measured(n, what)
        yield {
            "work": f"exact {what}, {found['MB']:.0f} MB above start",
            "n": n,
            "d": 3,
            "dtype": "float64",
            "our seconds": found["seconds"],
            "peer": f"dense, {n * n * 8 / 1e6:.0f} MB per matrix",
            "peer seconds": None,
            "ratio": None,
            "error": None,
            "floor": f"{n * 3 * 8 / 1e6:.2g} MB per array of tokens",
        }
