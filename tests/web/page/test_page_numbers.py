"""The numbers on the page are the library's, and the picture is alive."""

import io

import numpy as np
import pytest

FIVE = (0, 40, 75, 120, 200)
LAYERS = 4


@pytest.fixture
def hand(opened):
    return opened()


def pixels(hand, selector):
    """The picture of an element as the screen shows it, 0 to 1."""
    import matplotlib.image

    shot = hand.page.locator(selector).screenshot()
    return matplotlib.image.imread(io.BytesIO(shot))[..., :3]


def test_preset_shows_the_numbers_of_the_library(hand):
    """Energy, clusters and cosine at five times, from the page's own Python."""
    before = hand.run
    hand.page.select_option("#preset", "perspective-energy")
    assert hand.wait_run(before) != before
    assert hand.state()["beta"] == 4
    assert "energy" in hand.page.locator("#claim").text_content()
    assert "arXiv:2312.10794" in hand.page.locator("#source").text_content()
    names: dict = {}
    code = hand.page.locator("#python").text_content()
    exec(code, names)
    times, observed = names["trajectory"].times, names["trajectory"].observed
    assert len(times) == hand.call("() => pushforward.frames()")
    for k in FIVE:
        hand.call(f"() => pushforward.goto({k})")
        hand.until(
            f"() => document.querySelector('#stage').dataset.frame === '{k}'",
            f"frame {k}",
        )
        shown = {
            name: float(
                hand.page.locator(f"[data-value={name}]").get_attribute("data-number")
            )
            for name in ("t", "energy", "clusters", "cosine")
        }
        assert shown["t"] == pytest.approx(float(times[k]), rel=1e-12)
        energy, cosine = observed["energy"][k], observed["mean_cosine"][k]
        assert shown["energy"] == pytest.approx(float(energy), rel=1e-9)
        assert shown["clusters"] == int(observed["clusters"][k])
        assert shown["cosine"] == pytest.approx(float(cosine), abs=1e-9)


def test_canvas_is_alive_and_follows_the_head(hand):
    """Pixels vary, differ between two moments, and stay when nothing changes."""
    hand.wait_webgl()
    canvas = hand.page.locator("#stage .pf-canvas")
    assert canvas.evaluate("node => !node.getContext('webgl2').isContextLost()")
    hand.call("() => pushforward.goto(0)")
    hand.page.wait_for_timeout(600)
    start = pixels(hand, "#stage .pf-canvas")
    assert start.std() > 0.05
    saturated = (start.max(-1) - start.min(-1) > 0.3).mean()
    assert saturated > 0.005, "tokens are coloured"
    hand.call("() => pushforward.goto(200)")
    hand.page.wait_for_timeout(600)
    end = pixels(hand, "#stage .pf-canvas")
    assert changed(start, end) > 1e-3
    assert np.abs(end - pixels(hand, "#stage .pf-canvas")).max() < 1e-6


def recorded(client, layers) -> dict:
    """The state that shows hidden states (layers, n, d) after their upload."""
    buffer = io.BytesIO()
    np.save(buffer, layers / np.linalg.norm(layers, axis=-1, keepdims=True))
    sent = {"files": {"file": ("h.npy", buffer.getvalue())}}
    answer = client.http.post("/api/upload", headers={"X-Pushforward": "1"}, **sent)
    return {"model": "recorded", "file": answer.json()["file"]}


def changed(before, after) -> float:
    """Mean difference of two pictures; a line of words may have moved the edge."""
    tall = min(len(before), len(after))
    return float(np.abs(before[:tall] - after[:tall]).mean())


def test_four_thousand_tokens_play(opened, client):
    """The head moves by itself and the picture with it; nothing here is timed."""
    x = np.random.default_rng(0).normal(size=(4096, 3))
    layers = np.stack([x + [0.0, 0.0, k] for k in range(LAYERS)])
    state = {**recorded(client, layers), "view": {"frame": 0, "panel": "share"}}
    hand = opened(state, reduced_motion="no-preference")
    hand.wait_webgl()
    assert hand.frame() == 0 and hand.call("() => pushforward.frames()") == LAYERS
    assert "4096 tokens" in hand.until(
        "() => document.querySelector('#alt').textContent", "the words"
    )
    start = pixels(hand, "#stage .pf-canvas")
    assert start.std() > 0.05
    hand.page.click("#play")
    hand.until("() => pushforward.frame() > 0", "the second frame")
    hand.until(f"() => pushforward.frame() === {LAYERS - 1}", "the last frame")
    hand.until("() => document.querySelector('#play').textContent === 'Play'", "rest")
    assert changed(start, pixels(hand, "#stage .pf-canvas")) > 1e-3
    hand.until("() => pushforward.fps() > 0", "pictures to be counted")


def test_without_webgl_the_stage_is_drawn_plainly(opened):
    """The first picture does not need WebGL, and where there is none it stays."""
    hand = opened(wait=False)
    hand.page.add_init_script(
        "const open = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        "  return kind === 'webgl2' ? null : open.call(this, kind, ...more); };"
    )
    hand.page.reload()
    hand.wait_run()
    plain = "() => document.querySelector('#stage').dataset.drawn === 'plain'"
    hand.until(plain, "the plain drawing")
    hand.call("() => pushforward.goto(0)")
    hand.page.wait_for_timeout(200)
    start = pixels(hand, "#stage .pf-sketch")
    assert start.std() > 0.05
    hand.call("() => pushforward.goto(200)")
    hand.page.wait_for_timeout(200)
    assert changed(start, pixels(hand, "#stage .pf-sketch")) > 1e-3
    assert "WebGL 2" in hand.page.locator(".pf-missing").text_content()


def test_status_is_honest(opened):
    """Frozen is called frozen, with drift, monotony, steps and dtype beside it."""
    hand = opened({"n": 12, "t1": 6.0, "frames": 13, "beta": 1e4})
    status = hand.page.locator("#status")
    assert "frozen at machine precision" in status.text_content().lower()
    assert "converged" not in status.text_content().lower()
    facts = hand.page.locator("#honesty").text_content()
    assert "norm drift" in facts and "energy" in facts
    assert "step" in facts and "float64" in facts
    alt = hand.page.locator("#alt")
    hand.until("() => document.querySelector('#alt').textContent", "words")
    assert "12 tokens" in alt.text_content() and "sphere" in alt.text_content()


def test_a_rainbow_and_a_histogram_stand_beside_the_stage(opened, client):
    """The circle has its angles, many dimensions their cosines and what is kept."""
    layers = np.random.default_rng(1).normal(size=(LAYERS, 64, 24))
    hand = opened(recorded(client, layers))
    hand.page.wait_for_timeout(300)
    assert pixels(hand, "#stage .pf-side").std() > 0.03
    note = hand.page.locator("#note").text_content()
    assert "PCA of the end: keeps" in note and "24 dimensions" in note
    before = hand.run
    assert hand.page.locator("#d-number").is_disabled(), (
        "what is recorded is not changed"
    )
    hand.page.locator("#drawer summary").click()
    hand.page.select_option("#x-model", "sa")
    before = hand.wait_run(before)
    hand.page.locator("#d-number").fill("2")
    hand.page.keyboard.press("Enter")
    hand.wait_run(before)
    assert hand.state()["model"] == "sa" and hand.state()["d"] == 2
    hand.call("() => pushforward.goto(100)")
    hand.page.wait_for_timeout(300)
    assert pixels(hand, "#stage .pf-side").std() > 0.03
    assert "every token" in hand.page.locator("#note").text_content()
