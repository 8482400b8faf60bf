"""The page without a server: one file and one folder, opened as files."""

import base64
import zlib

import numpy as np
import pytest
from typer.testing import CliRunner

import pushforward as pf
from pushforward.cli._main import app
from pushforward.web import _site

STATE = {"n": 16, "t1": 6.0, "frames": 31}
RUN = pf.Experiment(start=pf.Uniform(16, 3), field=pf.Attention(9.0), t1=6.0, save=31)


class Alone:
    """A page from the disk; whatever it asks for beyond the disk is a complaint."""

    def __init__(self, browser, path):
        self.page = browser.new_page(reduced_motion="reduce")
        self.page.set_default_timeout(180_000)
        self.complaints: list[str] = []
        for event in ("console", "pageerror"):
            self.page.on(event, lambda told: self.complaints.append(str(told)))
        self.page.on("request", self._asked)
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_function("() => globalThis.pushforward?.complete()")

    def _asked(self, request):
        if not request.url.startswith(("file:", "blob:", "data:")):
            self.complaints.append(request.url)

    def numbers(self, k):
        return self.page.evaluate(f"() => pushforward.numbers({k})")

    def address_with(self, words):
        """What the address holds, once these words are in it: it follows the run."""
        for _ in range(600):
            text = self.page.evaluate("() => location.hash").removeprefix("#s=")
            held = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            if held and words in (held := zlib.decompress(held)):
                return held
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the address never held {words!r}, but {held!r}")

    def close(self):
        self.page.close()
        assert self.complaints == []


@pytest.fixture(scope="module")
def run():
    return RUN.run()


def test_one_file_shows_the_run_with_its_numbers(browser, built, run, tmp_path):
    run.save(tmp_path / "mine")
    target = tmp_path / "run.html"
    words = ["export", str(tmp_path / "mine"), "--html", str(target)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    alone = Alone(browser, target)
    assert alone.page.title() == "mine"
    for k in (0, 15, 30):
        energy = float(pf.InteractionEnergy(9.0)(run[k]))
        assert alone.numbers(k)["energy"] == pytest.approx(energy, rel=1e-12)
    alone.close()


def test_a_folder_plays_its_presets_and_computes_the_rest(browser, built, tmp_path):
    """Beta is changed without a server: the page computes what the library would."""
    preset = {"id": "small", "title": "Small", "claim": "", "reference": ""}
    preset |= {"study": "", "group": "figures", "state": STATE}
    story, _site.STORY = _site.STORY, ()
    try:
        _site.write_site(tmp_path / "site", [preset], lambda line: None, ())
    finally:
        _site.STORY = story
    alone = Alone(browser, tmp_path / "site" / "index.html")
    assert alone.numbers(30)["t"] == 6.0
    alone.page.locator("#beta-number").fill("2")
    alone.page.keyboard.press("Enter")
    there = "() => pushforward.complete() && pushforward.state().beta === 2"
    alone.page.wait_for_function(there)
    end = RUN.vary(field=pf.Attention(2.0)).run().final
    energy = float(pf.InteractionEnergy(2.0)(end))
    assert alone.numbers(30)["energy"] == pytest.approx(energy, abs=1e-5)
    held = alone.address_with(b'"beta":2')
    assert b'"n":16' in held, "the link holds the run"
    alone.close()


@pytest.mark.slow
def test_every_preset_of_the_whole_folder_plays(browser, built, tmp_path):
    """From a folder, without a server: each shows its last frame; nothing is asked."""
    _site.write_site(tmp_path / "site", told=lambda line: None, diagrams=())
    alone = Alone(browser, tmp_path / "site" / "index.html")
    options = alone.page.locator("#preset option")
    alone.page.wait_for_function("document.querySelector('#preset').length > 40")
    names = [n for n in options.evaluate_all("all => all.map(o => o.value)") if n]
    for name in names:
        alone.page.select_option("#preset", name)
        there = "() => pushforward.complete() && pushforward.state().preset"
        alone.page.wait_for_function(f"() => ({there})() === '{name}'")
        last = alone.page.evaluate("() => pushforward.frames() - 1")
        alone.page.evaluate(f"() => pushforward.goto({last})")
        clusters = alone.numbers(last)["clusters"]  # NaN: a law is drawn, no tokens
        assert last >= 1 and not clusters < 1, name
    alone.close()


def test_a_script_in_the_data_stays_data(run):
    about, frames = _site.recorded_run(run, "</script><script>alert(1)</script>", None)
    assert "<" not in _site._as_script({"runs": about, "frames": frames})
    raw = zlib.decompress(base64.b64decode(frames))
    assert np.frombuffer(raw, "<u4", 1)[0] == (len(raw) - 4 * 31) // 31
