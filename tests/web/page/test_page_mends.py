"""Every button at every width does what it says, and no word outlives its run."""

import pathlib
import re

import numpy as np
import pytest
from page_hand import state_of

SMALL = {"n": 16, "t1": 6.0, "frames": 31}
PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1280, "height": 720}
MARKS = pathlib.Path(__file__).parents[3] / "web/page/src/stage/marks.ts"


def seen(hand, selector: str) -> bool:
    """Whether an element lies within the window."""
    return hand.call(
        f"""() => {{
        const box = document.querySelector('{selector}').getBoundingClientRect();
        return box.height > 0 && box.top >= -1 && box.bottom <= innerHeight + 1; }}"""
    )


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_help_and_story_open_where_they_can_be_read(opened, size):
    hand = opened(SMALL, **size)
    hand.page.click("#help-open")
    assert hand.page.locator("#help").is_visible()
    assert hand.call("() => document.querySelector('#help').scrollTop") == 0
    assert seen(hand, "#help-title")
    hand.page.keyboard.press("Escape")
    hand.page.click("#story-open")
    hand.until("() => pushforward.complete()", "the first step")
    assert seen(hand, "[data-open] h2"), "a chapter begins where it is seen"
    hand.page.locator("#story-main").scroll_into_view_if_needed()
    assert seen(hand, "#story-main")
    box = hand.page.locator("#stage .pf-canvas").bounding_box()
    assert box["y"] > -1 and box["height"] >= 150, "the stage stays"


@pytest.mark.parametrize("width", [1000, 1280, 1400])
def test_beside_the_story_every_control_can_be_reached(opened, width):
    """The panel that stays with the stage lies on nothing: a click meets its button."""
    hand = opened(SMALL, width=width, height=720)
    hand.page.click("#story-open")
    hand.until("() => pushforward.complete()", "the first step")
    covered = """() => [...document.querySelectorAll(
      ".controls :is(button, input, select, summary)"
      )].filter(e => e.checkVisibility()).filter(e => {
        e.scrollIntoView({block: 'center'});
        const box = e.getBoundingClientRect();
        const top = document.elementFromPoint(box.x + box.width - 4, box.y + 4);
        return !(e === top || e.contains(top) || top?.contains(e)); }).map(e => e.id)"""
    assert hand.call(covered) == []


def test_the_story_hides_the_answer_until_it_was_asked(opened):
    hand = opened(SMALL)
    hand.page.click("#story-open")
    hand.until("() => pushforward.complete()", "the first step")
    charts, status = hand.page.locator(".pf-charts"), hand.page.locator("#status")
    assert not charts.is_visible() and not status.is_visible()
    main = hand.page.locator("#story-main")
    hand.until(
        "() => document.querySelector('#story-main').textContent === 'Play and see'",
        "the question",
    )
    main.click()
    main.click()
    told = "() => document.querySelector('[data-open] .told').textContent"
    hand.until(told, "the explanation")
    assert charts.is_visible() and status.is_visible()


def test_the_head_keeps_its_time_and_the_status_speaks_of_it(opened):
    hand = opened(SMALL)
    status = hand.page.locator("#status")
    hand.call("() => pushforward.goto(15)")
    assert status.text_content().startswith("Paused: t = 3 of 6.")
    before = hand.run
    hand.page.locator("#beta").press("ArrowRight")
    hand.wait_run(before)
    assert hand.frame() == 15 and hand.numbers(15)["t"] == pytest.approx(3.0)
    hand.call("() => pushforward.goto(30)")
    assert status.text_content().startswith("Reached the end:")


def test_a_number_that_is_typed_is_not_overwritten_by_an_answer(opened):
    hand = opened(SMALL)
    number = hand.page.locator("#beta-number")
    for k in range(8):  # at all phases of the answers before
        number.fill(str(1 + k))
        hand.page.wait_for_timeout(37 * k)
        number.press("Enter")
        assert hand.state()["beta"] == 1 + k
    hand.until("() => pushforward.complete()", "the last run")
    assert hand.state()["beta"] == 8 and number.input_value() == "8"


def test_a_link_keeps_the_camera_and_reset_gives_the_default_back(opened):
    hand = opened({**SMALL, "noise": 0.5, "solver": "heun"})
    for direction in ("left", "up", "in"):
        hand.page.click(f"[data-turn={direction}]")
    held = "() => location.hash.length > 5 && pushforward.state().view.camera"
    camera = hand.until(held, "the camera")
    hand.page.wait_for_timeout(400)
    link = hand.call("() => location.hash")
    assert state_of(link)["view"]["camera"] == camera
    command = hand.page.locator("#elsewhere").text_content()
    assert command == "pushforward explore --state " + link.removeprefix("#s=")
    other = opened(state_of(link))
    assert other.call("() => pushforward.camera()") == pytest.approx(camera, abs=2e-4)
    other.page.click("#reset")
    default = "() => pushforward.complete() && pushforward.state().n === 64"
    other.until(default, "the default run")
    state = other.state()
    assert (state["noise"], state["solver"]) == (0, "adaptive")


EVALUATE = """source => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const gl = canvas.getContext('webgl2');
  const program = gl.createProgram();
  const add = (kind, text) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS))
      throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  };
  add(gl.VERTEX_SHADER, `#version 300 es
    void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1);
      gl_Position = vec4(4.0 * p - 1.0, 0.0, 1.0); }`);
  add(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float; uniform float shape; out vec4 color; ${source}
    void main() { vec2 p = gl_FragCoord.xy / 32.0 - 1.0;
      color = vec4(shapeDistance(p, shape) < 0.0 ? 1.0 : 0.0); }`);
  gl.linkProgram(program);
  gl.useProgram(program);
  return [0, 1, 2, 3, 4, 5, 6, 7].map(shape => {
    gl.uniform1f(gl.getUniformLocation(program, 'shape'), shape);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    const out = new Uint8Array(4 * 64 * 64);
    gl.readPixels(0, 0, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, out);
    return Array.from(out).filter((_, i) => i % 4 === 0);
  });
}"""


def test_every_mark_is_drawn_from_its_inside(browser):
    """The shader itself, on a grid: full in the middle, empty in the corners."""
    text = MARKS.read_text()
    source = re.search(r"float plus\(.*?\n(?=void main)", text, re.S).group(0)
    page = browser.new_page()
    shapes = np.array(page.evaluate(EVALUATE, source)).reshape(8, 64, 64) > 0
    page.close()
    for shape in shapes:
        assert shape[28:36, 28:36].all(), "the middle is inside"
        assert not shape[[0, 0, -1, -1], [0, -1, 0, -1]].any(), "corners are outside"
    star = shapes[5]
    turns = np.arange(10) * np.pi / 5
    radii = np.where(np.arange(10) % 2 == 0, 0.96, 0.42)
    x, y = radii * np.sin(turns), radii * np.cos(turns)
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    assert star.mean() * 4 == pytest.approx(area, rel=0.05), "a star of five points"


def test_an_answer_that_arrives_leaves_what_is_being_typed(opened):
    """A number half typed into the drawer was put back by the answer to a change."""
    hand = opened(SMALL)
    typed = hand.call(
        """() => {
          document.querySelector('#drawer').open = true;
          const input = document.querySelector('#x-perceptron');
          input.value = '0.5';
          input.dispatchEvent(new Event('input'));
          const beta = document.querySelector('#beta');
          beta.value = String(beta.valueAsNumber + 1);
          beta.dispatchEvent(new Event('input'));
          return input.value; }"""
    )
    assert typed == "0.5"
    leave = "document.querySelector('#x-perceptron').dispatchEvent(new Event('change'))"
    hand.call(f"() => {leave}")
    assert hand.state()["perceptron"] == 0.5
