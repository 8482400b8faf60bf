"""What a person can do beyond watching: take tokens, compare, ask why, carry away."""

import io
import struct

import numpy as np
import pytest
from matplotlib.image import imread
from page_hand import link_of, state_of

import pushforward as pf

SMALL = {"n": 12, "t1": 6.0, "frames": 31, "beta": 2.0}


def dragged(hand, token, dx, dy, shift=False):
    """Press on a token, pull, let go."""
    box = hand.page.locator("#stage .pf-canvas").bounding_box()
    at = hand.call(f"() => pushforward.place({token})")
    x, y = box["x"] + at["x"], box["y"] + at["y"]
    hand.page.mouse.move(x, y)
    hand.page.mouse.down()
    hand.page.mouse.move(x + dx / 2, y + dy / 2, steps=3)
    hand.page.mouse.move(x + dx, y + dy, steps=3)
    hand.page.mouse.up()
    return x + dx - box["x"], y + dy - box["y"]


FRONT = """() => [...Array(12).keys()].find(i => pushforward.front(i) &&
  [...Array(12).keys()].every(j => j === i || Math.hypot(
    pushforward.place(i).x - pushforward.place(j).x,
    pushforward.place(i).y - pushforward.place(j).y) > 40))"""


def test_a_token_is_taken_at_any_time_and_the_link_keeps_it(opened):
    """The tokens as they are then, one of them elsewhere, are a new start."""
    hand = opened(SMALL)
    hand.call("() => pushforward.goto(4)")
    hand.page.wait_for_timeout(300)
    token = hand.call(FRONT)
    before, points = hand.run, hand.call("() => pushforward.points(4)")
    x, y = dragged(hand, token, 30, -24)
    hand.wait_run(before)
    moved = dict(hand.state()["moved"])
    assert len(moved) == 12
    others = [i for i in range(12) if i != token]
    assert all(np.allclose(moved[i], points[i], atol=1e-7) for i in others)
    there = hand.call(f"() => pushforward.place({token})")
    assert np.hypot(there["x"] - x, there["y"] - y) < 3
    hand.page.wait_for_timeout(500)
    link = hand.call("() => location.hash")
    other = opened(state_of(link))
    assert other.run == hand.run, "to the last digit"


def test_a_finger_takes_a_token(opened):
    hand = opened(SMALL, has_touch=True, width=390, height=844)
    hand.page.wait_for_timeout(300)
    token = hand.call(FRONT)
    before = hand.run
    box = hand.page.locator("#stage .pf-canvas").bounding_box()
    at = hand.call(f"() => pushforward.place({token})")
    touch = hand.context.new_cdp_session(hand.page)
    for kind, dx in [("Start", 0), ("Move", 10), ("Move", 25), ("End", 25)]:
        point = {"x": box["x"] + at["x"] + dx, "y": box["y"] + at["y"]}
        points = [] if kind == "End" else [point]
        touch.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )
    hand.wait_run(before)
    assert [i for i, _ in hand.state()["moved"]] == [token]


def test_why_a_token_moves_is_a_list_and_arrows(opened):
    hand = opened({**SMALL, "heads": 2, "perceptron": 0})
    hand.call("() => pushforward.goto(6)")
    over = hand.page.locator("#stage .pf-over")
    drawn = """node => { const c = node.getContext('2d', { willReadFrequently: true });
      return node.width * node.height === 0 ? 0 : c.getImageData(0, 0, node.width,
        node.height).data.filter((v, k) => k % 4 === 3 && v > 0).length; }"""
    assert over.evaluate(drawn) == 0
    hand.call("() => pushforward.select(3)")
    hand.until("() => document.querySelector('#why li')", "the list")
    words = hand.page.locator("#why").text_content()
    assert "Why token 3 moves" in words and "Head by head: 1 gives" in words
    shares = hand.page.locator("#why b").all_text_contents()
    numbers = [int(text.removesuffix(" %")) for text in shares]
    assert numbers == sorted(numbers, reverse=True) and numbers[0] > 0
    hand.page.wait_for_timeout(200)
    assert over.evaluate(drawn) > 100, "arrows on the stage"


def test_words_name_the_tokens(opened):
    hand = opened(SMALL)
    before = hand.run
    hand.page.fill("#sentence", "one word per token")
    hand.page.keyboard.press("Enter")
    hand.wait_run(before)
    assert hand.state()["n"] == 4
    assert hand.call("() => pushforward.labels()") == ["one", "word", "per", "token"]
    hand.call("() => pushforward.select(1)")
    hand.until("() => document.querySelector('#why h3')", "the list")
    assert hand.page.locator("#why h3").text_content() == "Why word moves"
    hand.page.wait_for_timeout(400)
    assert state_of(hand.call("() => location.hash"))["view"]["words"]


def test_norm_and_perceptron_reach_equation_preview_and_library(opened):
    """The same numbers from the page alone and from the library."""
    hand = opened(SMALL)
    before = hand.run
    hand.page.evaluate("() => document.querySelector('#drawer').open = true")
    hand.page.select_option("#x-norm", "unit")
    hand.page.fill("#x-perceptron", "0.5")
    hand.page.keyboard.press("Tab")
    hand.until("() => document.querySelector('#stage').dataset.preview", "a run")
    hand.wait_run(before)
    state = hand.state()
    assert (state["norm"], state["perceptron"]) == ("unit", 0.5)
    math = hand.page.locator("#equation math")
    assert "relu" in math.text_content() and math.locator("mfrac").count() >= 2
    names: dict = {}
    exec(hand.page.locator("#python").text_content(), names)
    energy = float(names["trajectory"].observed["energy"][-1])
    assert hand.numbers(30)["energy"] == pytest.approx(energy, rel=1e-9)


def test_two_runs_stand_side_by_side_at_the_same_time(opened):
    hand = opened(SMALL)
    hand.call("() => pushforward.goto(15)")
    hand.page.click("#compare")
    before = hand.run
    hand.page.locator("#beta").press("ArrowRight")
    hand.wait_run(before)
    assert "β = 2" in hand.page.locator("#beside-words").text_content()
    series = hand.call("() => pushforward.curves()")
    assert series == 6, "three of this run, three of the other"
    canvas = hand.page.locator("#beside-stage canvas").first
    assert canvas.bounding_box()["width"] > 200
    hand.page.click("#compare")
    assert hand.call("() => pushforward.curves()") == 3
    assert not hand.page.locator("#beside").is_visible()


def test_two_runs_in_one_picture(opened):
    """The kept one hollow over this one; nothing of it is left when it goes."""
    hand = opened({**SMALL, "view": {"frame": 10}}, width=1300)  # no row is broken
    hand.wait_webgl()
    hand.page.click("#compare")
    before = hand.run
    hand.page.locator("#beta-number").fill("9")
    hand.page.keyboard.press("Enter")
    hand.wait_run(before)

    def picture():
        hand.page.wait_for_timeout(400)
        shot = hand.page.locator("#stage .pf-canvas").screenshot()
        return imread(io.BytesIO(shot))[..., :3]

    hand.page.click("#lay")
    assert not hand.page.locator("#beside").is_visible()
    assert "hollow" in hand.page.locator("#stage-words").text_content()
    both = picture()
    hand.page.click("#compare")
    alone = picture()
    assert both.shape == alone.shape and (np.abs(both - alone) > 0.1).mean() > 1e-3
    assert not hand.page.locator("#lay").is_visible()


def chunks(png):
    at = 8
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + 8 : at + 8 + size]
        at += 12 + size


def test_a_loop_and_a_card_are_one_click(opened):
    hand = opened({**SMALL, "view": {"panel": "share"}})
    with hand.page.expect_download() as kept:
        hand.page.click("#export-card")
    card = imread(io.BytesIO(kept.value.path().read_bytes()))
    assert card.shape[:2] == (630, 1200) and card[..., :3].std() > 0.05
    with hand.page.expect_download() as kept:
        hand.page.click("#export-loop")
    data = kept.value.path().read_bytes()
    found = list(chunks(data))
    frames, repeats = struct.unpack(">II", dict(found)[b"acTL"])
    delays = [struct.unpack_from(">HH", body, 20) for k, body in found if k == b"fcTL"]
    assert (frames, repeats) == (75, 0) and len(delays) == 75
    seconds = sum(a / b for a, b in delays)
    assert seconds == pytest.approx(5, abs=0.1) and len(data) < 5e6
    first = imread(io.BytesIO(data))
    assert first.shape[0] == first.shape[1] + 34 and first[..., :3].std() > 0.02


def test_a_stranger_lands_in_the_story(opened):
    """Without a link: a question of words, a run that plays, and the preset named."""
    hand = opened(wait=False)
    hand.page.goto("about:blank")
    hand.page.goto(hand.server.origin + "/")
    hand.wait_run()
    assert hand.page.locator(".opening h2").is_visible()
    hand.until(
        "() => document.querySelector('#preset').value === 'perspective-sphere'",
        "the name of the run",
    )


def test_scrolling_opens_the_chapters(opened):
    hand = opened({**SMALL, "view": {"panel": "story"}}, width=1400, height=900)
    hand.call("() => document.querySelectorAll('.chapter')[3].scrollIntoView()")
    chapter = "() => document.querySelector('[data-open]')?.dataset.chapter"
    hand.until(f"() => ({chapter})() === '2'", "the third chapter")
    hand.until("() => pushforward.complete()", "its run")
    assert hand.state()["beta"] == 9 and hand.state()["n"] == 64
    assert not hand.page.locator(".pf-charts").is_visible(), "asked, not answered"


def test_links_of_presets_with_moved_tokens_open_as_the_same_run(opened):
    """Rounded tokens were another run; now every digit is in the link."""
    points = [[1, [0.99, 0.14]], [3, [-0.6, 0.8]], [5, [-0.36, -0.93]]]
    state = {**SMALL, "n": 6, "d": 2, "init": "equispaced", "moved": points}
    hand = opened(state)
    hand.page.wait_for_timeout(500)
    again = opened(state_of(hand.call("() => location.hash")))
    assert again.run == hand.run
    assert link_of(state) != again.call("() => location.hash")


LINE = {
    "t1": 2.0,
    "save": 21,
    "start": {"kind": "Normal", "n": 6, "d": 1, "space": "euclidean", "mean": [0.0]},
    "field": {"kind": "DistanceAttention", "beta": 2.0},
}
DISABLED = "() => [...document.querySelectorAll(':disabled')].map(e => e.id)"


def test_a_run_without_controls_says_so_and_keeps_those_it_has(opened):
    hand = opened({"v": 2, "experiment": LINE})
    told = hand.page.locator("#equation").text_content()
    assert "no preview" in told and "DistanceAttention(beta=2.0)" in told
    assert "line" in hand.page.locator("#note").text_content()
    disabled = hand.call(DISABLED)
    assert {"d", "d-number", "x-heads", "x-init", "V"} <= set(disabled)
    assert not {"beta", "n", "x-model", "x-t1", "x-seed"} & set(disabled)
    before = hand.run
    hand.page.fill("#beta-number", "5")
    hand.page.press("#beta-number", "Enter")
    hand.wait_run(before)
    assert "beta=5.0" in hand.page.locator("#equation").text_content()
    assert hand.call("() => pushforward.state().d") == 1
    before = hand.run
    hand.call(
        """() => { const model = document.querySelector('#x-model');
        model.value = 'sa'; model.dispatchEvent(new Event('change')); }"""
    )
    hand.wait_run(before)
    assert hand.call("() => pushforward.state().experiment") is None
    assert "x-heads" not in hand.call(DISABLED)


def test_a_state_becomes_a_density(opened):
    hand = opened({"n": 8, "d": 2, "noise": 0.5, "t1": 1.0, "beta": 2.0})
    before = hand.run
    hand.call("() => document.querySelector('#as-density').click()")
    hand.wait_run(before)
    assert hand.page.locator("#note").text_content().startswith("A density")
    points = np.array(hand.call("() => pushforward.points(0)"))
    assert points.shape == (150, 2) and np.allclose(np.hypot(*points.T), 1, atol=1e-6)
    hand.call("() => { pushforward.goto(3); pushforward.select(2); }")
    hand.page.wait_for_timeout(600)  # at rest a matrix is asked for, where there is one
    assert not [url for url in hand.requests if hand.run in url]
    assert "no attention matrix" in hand.page.locator("#attention").text_content()
    assert not hand.page.locator("#attention .matrix").is_visible(), "no empty box"


PRE = {
    "t1": 8.0,
    "save": 41,
    "start": {"kind": "Orthonormal", "n": 3, "d": 3, "space": "euclidean"},
    "field": {"kind": "PreNorm", "field": {"kind": "Attention", "beta": 1.0}},
}


def test_a_norm_with_a_radius_has_a_preview_and_a_live_matrix(opened):
    """Its frames are those of the library, and beta acts before the server answers."""
    hand = opened({"v": 2, "experiment": PRE, "view": {"panel": "attention"}})
    assert "a preview" in hand.page.locator("#equation").text_content()
    assert hand.page.locator("#attention .matrix").is_visible()
    requests = [url for url in hand.requests if "/attention" in url]
    before = hand.run
    hand.call(
        """() => { globalThis.shown = [];
        new MutationObserver(() => shown.push(document.querySelector('#stage').dataset
          .preview)).observe(document.querySelector('#stage'), {attributes: true}); }"""
    )
    hand.page.fill("#beta-number", "2")
    hand.page.press("#beta-number", "Enter")
    hand.until("() => shown.includes('true')", "the preview")
    hand.wait_run(before)
    end = np.array(hand.call("() => pushforward.points(40)"))
    start = pf.Particles(pf.Euclidean(3), np.eye(3))
    run = pf.flow(pf.PreNorm(pf.Attention(2.0)), start, 8.0, save=41)
    assert np.abs(end - np.asarray(run.final.points)).max() < 1e-5
    assert len(requests) <= 1, "the matrix is computed in the page"
