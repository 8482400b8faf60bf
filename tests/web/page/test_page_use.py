"""A person uses the page: sliders, play, scrub, plateaus, tokens, maps, links."""

import numpy as np
import pytest
from page_hand import link_of, state_of


@pytest.fixture
def hand(opened):
    return opened()


def test_beta_slider_asks_for_another_run(hand):
    before = hand.run
    slider = hand.page.locator("#beta")
    slider.focus()
    slider.press("ArrowRight")
    run = hand.wait_run(before)
    assert run != before
    assert hand.state()["beta"] > 9
    assert "β = 9.22" in slider.get_attribute("aria-valuetext")
    assert hand.state()["preset"] is None


def test_play_moves_and_pause_stops(opened):
    """Motion is not reduced here: the page plays by itself, a click pauses."""
    hand = opened(reduced_motion="no-preference")
    hand.until("() => pushforward.frame() > 5", "the play head to move")
    hand.page.click("#play")
    stopped = hand.frame()
    hand.page.wait_for_timeout(250)
    assert hand.frame() == stopped
    assert hand.page.locator("#play").text_content() == "Play"
    hand.page.click("#play")
    hand.until(f"() => pushforward.frame() > {stopped}", "playing again")
    hand.until("() => pushforward.fps() > 0", "pictures to be counted")


def test_scrubbing_asks_the_server_for_nothing(hand):
    hand.page.wait_for_timeout(800)
    hand.requests.clear()
    over = hand.page.locator("#ribbon .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    y = box["y"] + box["height"] / 2
    hand.page.mouse.move(box["x"] + 2, y)
    hand.page.mouse.down()
    seen = []
    for share in np.linspace(0.05, 0.95, 12):
        hand.page.mouse.move(box["x"] + share * box["width"], y)
        seen.append(hand.frame())
    # On a slow machine two moves are a rest, and at rest the matrix is asked for.
    assert [url for url in hand.requests if "/attention" not in url] == []
    hand.page.mouse.up()
    assert seen == sorted(seen) and seen[0] < 20 and seen[-1] > 180
    words = hand.page.locator(".pf-hover").text_content()
    assert "lifetime" in words, "hover tells how long the plateau lasts"


def test_plateau_jump_goes_to_their_starts(hand):
    starts = hand.call("() => pushforward.plateaus().map(p => p.from)")
    assert len(starts) >= 2
    hand.call("() => pushforward.goto(0)")
    for start in starts:
        hand.page.click("#plateau-after")
        assert hand.frame() == start
    hand.page.click("#plateau-before")
    assert hand.frame() == starts[-2]


def test_token_selection_lights_its_row_both_ways(hand, client):
    """A click on the stage and a click in the matrix select; the row is a row."""
    hand.call("() => pushforward.goto(200)")
    hand.page.wait_for_timeout(300)
    hand.page.locator("#token").fill("5")
    hand.page.keyboard.press("Enter")
    row = hand.until("() => pushforward.row()", "the row of token 5")
    path = f"/api/runs/{hand.run}/row?frame=200&token=5&head=0"
    assert row == pytest.approx(client.http.get(path).json()["values"], abs=1e-5)
    told = "() => document.querySelector('#alt').textContent.includes('Token 5')"
    hand.until(told, "the words to name the token")
    matrix = hand.page.locator("#attention .matrix")
    matrix.scroll_into_view_if_needed()
    matrix.click(position={"x": 40, "y": 9})
    chosen = hand.state()["view"]["selected"]
    assert chosen is not None and chosen != 5
    hand.page.keyboard.press("Escape")
    hand.page.keyboard.press("Escape")
    assert hand.state()["view"]["selected"] is None
    place = hand.call("() => pushforward.place(11)")
    hand.page.locator("#stage .pf-canvas").click(position=place)
    chosen = hand.state()["view"]["selected"]
    other = hand.call(f"() => pushforward.place({chosen})")
    assert np.hypot(other["x"] - place["x"], other["y"] - place["y"]) < 16


def test_shift_drag_moves_a_start_and_runs_again(hand):
    """The token goes where the pointer let it go, and stays on the sphere."""
    before = hand.run
    box = hand.page.locator("#stage .pf-canvas").bounding_box()
    place = hand.call("() => pushforward.place(20)")
    x, y = box["x"] + box["width"] / 2 + 30, box["y"] + box["height"] / 2 - 20
    hand.page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    hand.page.keyboard.down("Shift")
    hand.page.mouse.down()
    hand.page.mouse.move(x, y, steps=5)
    hand.page.mouse.up()
    hand.page.keyboard.up("Shift")
    hand.wait_run(before)
    [[token, point]] = hand.state()["moved"]
    assert np.linalg.norm(point) == pytest.approx(1, abs=1e-6)
    there = hand.call(f"() => pushforward.place({token})")
    assert box["x"] + there["x"] == pytest.approx(x, abs=2)
    assert box["y"] + there["y"] == pytest.approx(y, abs=2)


def test_phase_diagram_click_loads_that_run(hand):
    """The state is that of the cell under the pointer, to the last digit."""
    hand.page.click("#tab-phase")
    canvas = hand.page.locator("#phase canvas")
    hand.until("() => document.querySelector('#phase-cell').textContent", "a map")
    answer = hand.call(
        "async () => (await fetch('/api/phase?kind=t-beta&statistic=close')).json()"
    )
    box = canvas.bounding_box()
    nx, ny = len(answer["x"]["values"]), len(answer["y"]["values"])
    ix, iy = 3, ny - 4
    x = 58 + (ix + 0.5) / nx * (box["width"] - 122)
    y = 10 + (1 - (iy + 0.5) / ny) * (box["height"] - 56)
    before = hand.run
    canvas.click(position={"x": x, "y": y})
    hand.wait_run(before)
    state = hand.state()
    assert state["t1"] == answer["x"]["values"][ix]
    assert state["beta"] == answer["y"]["values"][iy]
    assert state["n"] == 32 and state["seed"] == 0


def test_share_link_round_trip(hand, opened):
    """The copied link, opened in another window, is the same run and the same view."""
    hand.press("c")
    hand.call("() => { pushforward.goto(33); pushforward.select(7); }")
    hand.page.wait_for_timeout(400)
    hand.page.click("#share")
    hand.page.wait_for_timeout(100)
    link = hand.call("() => navigator.clipboard.readText()")
    assert len(link) < 2000
    assert state_of(link)["view"]["color"] == "start"
    assert state_of(link)["experiment"]["field"]["kind"] == "Attention"
    other = opened(state_of(link))
    assert other.run == hand.run
    other.until("() => pushforward.frame() === 33", "the frame of the link")
    assert other.state()["view"]["selected"] == 7
    assert other.state() == hand.state()


def test_bad_links_are_clamped_and_said(opened):
    hand = opened({"n": 10**9, "t1": 1, "frames": 5, "wheels": 4}, wait=False)
    hand.until("() => pushforward.state().n === 4096", "the server's word on it")
    notices = hand.page.locator("#notices").text_content()
    assert "1000000000 became 4096" in notices and "wheels" in notices
    hand.page.goto("about:blank")
    hand.page.goto(hand.server.origin + "/" + link_of({})[:-2] + "AAA")
    hand.wait_run()
    assert hand.state()["n"] == 64
    assert "link" in hand.page.locator("#notices").text_content()


def test_story_plays_with_one_button(hand):
    """Set, ask, play, explain: the first chapter, without another control."""
    hand.page.click("#story-open")
    main = hand.page.locator("#story-main")
    hand.until("() => pushforward.complete()", "the first chapter")
    hand.page.wait_for_timeout(50)
    assert main.text_content() == "Play and see"
    assert hand.call("() => pushforward.labels()")[2] == "bank", "words are tokens"
    hand.page.locator("[data-open] input").nth(1).check()
    main.click()
    main.click()
    told = "() => document.querySelector('[data-open] .told').textContent"
    words = hand.until(told, "the explanation")
    last = hand.numbers(hand.call("() => pushforward.frames()") - 1)
    assert f"{int(last['clusters'])} cluster" in words and "t = 20" in words
    chosen = hand.page.locator("[data-open] .choices").text_content()
    assert "this is what happened" in chosen
    assert "arXiv:2305.05465" in hand.page.locator("[data-open] .source").text_content()
    assert main.text_content() == "Next chapter"
