"""Everything by keyboard, and nothing that a screen reader or a small screen loses."""

import pytest


@pytest.fixture
def hand(opened):
    return opened()


def test_twelve_tasks_with_the_keyboard_only(hand):
    page = hand.page
    run = hand.run
    # 1 forward, 2 ten back, 3 the end, 4 the start
    hand.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert hand.frame() == 3
    hand.press("Shift+ArrowRight", "Shift+ArrowLeft", "ArrowLeft")
    assert hand.frame() == 2
    hand.press("End")
    assert hand.frame() == 200
    hand.press("Home")
    assert hand.frame() == 0
    # 5 play and pause
    hand.press(" ")
    hand.until("() => pushforward.frame() > 2", "playing by the space bar")
    hand.press(" ")
    assert page.locator("#play").text_content() == "Play"
    # 6 plateaus
    hand.press("Home", "]")
    first = hand.frame()
    hand.press("]")
    assert hand.frame() > first > 0
    hand.press("[")
    assert hand.frame() == first
    # 7 tokens
    hand.press(".", ".")
    assert hand.state()["view"]["selected"] == 1
    hand.press("Escape", "Escape")
    assert hand.state()["view"]["selected"] is None
    # 8 colours and theme
    hand.press("c", "t")
    view = hand.state()["view"]
    assert view["color"] == "start" and view["theme"] == "dark"
    # 9 help opens and closes
    hand.press("?")
    assert page.locator("#help").evaluate("node => node.open")
    hand.press("Escape")
    assert not page.locator("#help").evaluate("node => node.open")
    # 10 panels
    hand.press("p")
    assert page.locator("#phase").is_visible()
    hand.press("a")
    assert page.locator("#attention").is_visible()
    # 11 beta
    hand.press("+")
    run = hand.wait_run(run)
    assert hand.state()["beta"] > 9
    # 12 a preset, the link, the drawer
    hand.press("1")
    run = hand.wait_run(run)
    assert hand.state()["preset"] == "perspective-sphere"
    hand.press("s")
    said = "() => document.querySelector('#notices').textContent.includes('copied')"
    hand.until(said, "the link to be copied")
    hand.press("d")
    assert page.locator("#drawer").evaluate("node => node.open")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "x-model"


def test_keyboard_moves_a_start_and_loads_a_cell(hand):
    hand.press(".")
    before = hand.run
    hand.press("Alt+Shift+ArrowUp")
    hand.wait_run(before)
    assert [token for token, _ in hand.state()["moved"]] == [0]
    hand.press("p")
    hand.until("() => document.querySelector('#phase-cell').textContent", "a map")
    hand.page.locator("#phase canvas").focus()
    words = hand.page.locator("#phase-cell").text_content()
    hand.press("ArrowLeft", "ArrowDown")
    assert hand.page.locator("#phase-cell").text_content() != words
    before = hand.run
    hand.press("Enter")
    hand.wait_run(before)
    assert hand.state()["n"] == 32


def serious(hand) -> list:
    """What axe finds on the page as it stands."""
    found = hand.page.evaluate(
        "async () => (await axe.run({resultTypes: ['violations']})).violations"
    )
    return [
        (v["id"], [node["target"] for node in v["nodes"]][:3])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


def test_axe_finds_nothing_serious(opened):
    """Every panel in light and dark, the drawer open, on one page."""
    from conftest import ROOT

    axe = ROOT / "web/page/node_modules/axe-core/axe.min.js"
    if not axe.is_file():
        pytest.fail("axe-core is missing: cd web/page && npm ci")
    hand = opened(width=1400, height=900)
    hand.press("d")
    hand.page.evaluate(axe.read_text())
    for panel in ("attention", "phase", "story", "share"):
        hand.page.click(f"#tab-{panel}")
        for theme in ("light", "dark"):
            hand.until(
                "() => document.querySelector('#theme').textContent === "
                f"'{'Dark' if theme == 'light' else 'Light'}'",
                theme,
            )
            hand.page.wait_for_timeout(100)
            assert serious(hand) == [], (panel, theme)
            hand.page.click("#theme")


def test_nothing_is_wider_than_the_screen(opened):
    hand = opened({"d": 2}, width=320, height=700)
    for width in (320, 360, 768, 1920):
        hand.page.set_viewport_size({"width": width, "height": 700})
        hand.page.wait_for_timeout(150)
        overflow = hand.call("() => document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, width
        box = hand.page.locator("#stage canvas").first.bounding_box()
        assert box["width"] >= 140 and box["height"] >= 120, width
        assert hand.page.locator("#play").is_visible()
