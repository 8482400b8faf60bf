"""`pushforward doctor`: what works on this machine, and how to fix what does not."""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import sys
from typing import Annotated

import typer

EXTRAS = {
    "xarray": ("xarray", 'pip install "pushforward[xarray]"', "labelled runs"),
    "sphinx": ("docs", 'pip install "pushforward[docs]"', "building the documentation"),
}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check devices, packages, ffmpeg, browser and disk."""
    checks = [*_system(), *_packages(), *_tools(), *_disk()]
    if as_json:
        keys = ("what", "ok", "detail", "fix")
        sys.stdout.write(json.dumps([dict(zip(keys, c, strict=True)) for c in checks]))
        sys.stdout.write("\n")
        return
    for what, ok, detail, fix in checks:
        mark = "ok     " if ok else "missing"
        tail = "" if ok else f"   fix: {fix}"
        sys.stdout.write(f"{mark} {what:14s} {detail}{tail}\n")


def _system() -> list[tuple[str, bool, str, str]]:
    import jax

    import pushforward as pf

    devices = ", ".join(f"{d.platform}:{d.device_kind}" for d in jax.devices())
    version = f"{pf.__version__} on Python {platform.python_version()}"
    x64 = bool(jax.config.jax_enable_x64)  # type: ignore[attr-defined]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        ("pushforward", True, version, ""),
        ("devices", True, devices, ""),
        ("float64", x64, "on" if x64 else "off", "unset JAX_ENABLE_X64"),
        ("machine", True, f"{os.cpu_count()} cores, {memory:.0f} GiB", ""),
    ]


def _packages() -> list[tuple[str, bool, str, str]]:
    rows = []
    for name in ("jax", "equinox", "diffrax", "scipy", "zarr", "matplotlib"):
        rows.append((name, True, importlib.metadata.version(name), ""))
    for module, (_, fix, why) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        detail = importlib.metadata.version(module) if there else f"for {why}"
        rows.append((module, there, detail, fix))
    return rows


def _tools() -> list[tuple[str, bool, str, str]]:
    import imageio_ffmpeg

    try:
        ffmpeg, there = imageio_ffmpeg.get_ffmpeg_exe(), True
    except RuntimeError:
        ffmpeg, there = "not found", False
    browsers = ("chromium", "chromium-browser", "google-chrome")
    browser = next((b for b in browsers if shutil.which(b)), None)
    fix = "apt-get install chromium (only the tests of the page need it)"
    return [
        ("ffmpeg", there, pathlib.Path(ffmpeg).name, "pip install imageio-ffmpeg"),
        ("browser", browser is not None, browser or "no Chromium found", fix),
    ]


def _disk() -> list[tuple[str, bool, str, str]]:
    free = shutil.disk_usage(".").free / 2**30
    writable = os.access(".", os.W_OK)
    return [
        ("disk", free > 1, f"{free:.0f} GiB free here", "free some space"),
        ("folder", writable, "writable" if writable else "read-only", "cd elsewhere"),
    ]
