"""The map of docs/design.md shows the calls that are made."""

import pathlib
import re
import sys

import jax
import pytest

import pushforward as pf
from pushforward import studies
from pushforward.studies.metastability import _times, claims, runs

ROOT = pathlib.Path(pf.__file__).parent
TEXT = (ROOT.parent / "docs" / "design.md").read_text()


def hops(title: str) -> list[str]:
    """The numbered names after a title."""
    rest = TEXT[TEXT.index(title) :]
    listed = re.search(r"(?:^\d+\. `[^`]+`\n)+", rest, flags=re.M)
    assert listed is not None
    return re.findall(r"`([^`]+)`", listed.group())


def place(code) -> str | None:
    """`room.module.function` of code of the package."""
    path = pathlib.Path(code.co_filename)
    if ROOT not in path.parents or code.co_name.startswith("<"):
        return None
    return ".".join([*path.relative_to(ROOT).with_suffix("").parts, code.co_name])


class Arrived(BaseException):
    """The rest of the journey need not be made."""


def calls_to(last: str, work) -> list[str]:
    """The chain of calls inside the package when `last` is first called."""
    chain: list[str] = []

    def look(frame, event, argument):
        if event != "call" or place(frame.f_code) != last:
            return
        while frame is not None:
            here = place(frame.f_code)
            if here is not None:
                chain.insert(0, here)
            frame = frame.f_back
        raise Arrived

    sys.setprofile(look)
    try:
        work()
    except Arrived:
        pass
    finally:
        sys.setprofile(None)
    return chain


def flow_of_pairs():
    jax.clear_caches()  # else nothing is traced
    mu = pf.Particles.uniform(pf.Sphere(3), 512, key=jax.random.key(0))
    pf.flow(pf.Attention(9.0), mu, 0.1, save=2)


def claim_of_a_study():
    runs.log_escape.cache_clear()
    list(studies.verify("metastability"))


@pytest.fixture(autouse=True)
def _one_claim(monkeypatch):
    monkeypatch.setattr(claims, "CLAIMS", [_times.escape_at_beta_40])


@pytest.mark.parametrize(
    ("title", "work"),
    [("`flow` to a sum", flow_of_pairs), ("A claim of a study", claim_of_a_study)],
)
def test_a_journey_is_the_one_that_is_drawn(title, work):
    drawn = hops(title)
    found = calls_to(drawn[-1], work)
    inside = [hop for hop in drawn if not hop.startswith("cli.")]
    assert found == inside and len(drawn) <= 13  # twelve hops


def test_hops_go_downward_only():
    order = re.search(r"^    cli\n(?:    .*\n)+", TEXT, flags=re.M)
    assert order is not None
    floors = [line.split("theory")[0] for line in order.group().splitlines()]
    floor = {
        room: k for k, line in enumerate(floors) for room in re.findall(r"\w+", line)
    }
    for title in ("`flow` to a sum", "A claim of a study"):
        levels = [floor[hop.split(".")[0]] for hop in hops(title)]
        assert levels == sorted(levels)
