"""The same view in a notebook: two on one page, offline, without interference."""

import base64
import json

import jax
import pytest

import pushforward as pf

NOTEBOOK = "http://notebook.test/"

# What anywidget does, in small: a model with traits, and one render per output.
PAGE = """<!doctype html><html><head><link rel="stylesheet" href="/widget.css"></head>
<body><div id="a"></div><div id="b"></div><script type="module">
import widget from "/widget.js";
const code = (c) => c.charCodeAt(0);
const bytes = (text) => new DataView(Uint8Array.from(atob(text), code).buffer);
class Model {
  constructor(traits) { this.traits = traits; this.listeners = {}; this.saved = []; }
  get(name) { return this.traits[name]; }
  set(name, value) { this.traits[name] = value; }
  save_changes() { this.saved.push(this.traits.frame); }
  on(event, f) { (this.listeners[event] ??= []).push(f); }
  off(event, f) { this.listeners[event] = this.listeners[event].filter(g => g !== f); }
  fromPython(name, value) {
    this.set(name, value);
    for (const f of this.listeners["change:" + name]) f();
  }
}
window.models = {}; window.closing = {};
for (const id of ["a", "b"]) {
  const {frames, ...rest} = await (await fetch("/" + id + ".json")).json();
  const model = new Model({...rest, frames: bytes(frames)});
  models[id] = model;
  closing[id] = widget.render({model, el: document.getElementById(id)});
}
</script></body></html>"""


def traits(d, beta):
    """The traits of a view of a small run."""
    view = pytest.importorskip("pushforward.web._widget").view
    mu = pf.Particles.uniform(pf.Sphere(d), 12, key=jax.random.key(d))
    shown = view(pf.flow(pf.Attention(beta), mu, 3.0, save=21), height=300)
    frames = base64.b64encode(shown.frames).decode()
    names = ("meta", "frame", "height", "theme")
    return {"frames": frames, **{name: getattr(shown, name) for name in names}}


@pytest.fixture(scope="module")
def notebook(browser, built):
    """A page that has only what the wheel ships; any other request is refused."""
    files = {
        "": ("text/html", PAGE),
        "widget.js": ("text/javascript", (built / "widget.js").read_text()),
        "widget.css": ("text/css", (built / "widget.css").read_text()),
        "a.json": ("application/json", json.dumps(traits(3, 4.0))),
        "b.json": ("application/json", json.dumps(traits(2, 4.0))),
        "favicon.ico": ("image/png", ""),
    }
    context = browser.new_context(viewport={"width": 900, "height": 900})
    page = context.new_page()
    complaints = []

    def answer(route):
        kind, body = files.get(route.request.url.removeprefix(NOTEBOOK), (None, None))
        if kind is None:
            complaints.append(route.request.url)
            return route.abort()
        return route.fulfill(content_type=kind, body=body)

    page.route("**/*", answer)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(NOTEBOOK)
    for name in ("a", "b"):
        page.wait_for_selector(f"#{name} [data-ready='1']", timeout=60_000)
    yield page
    context.close()
    assert complaints == []


def frame(page, name):
    """The frame a view tells Python."""
    return page.evaluate(f"() => models.{name}.get('frame')")


def test_two_views_do_not_interfere(notebook):
    notebook.locator("#a .pf-play").click()
    scrub = notebook.locator("#a input[type=range]")
    for _ in range(600):  # a minute at most
        if int(scrub.input_value()) > 3:
            break
        notebook.wait_for_timeout(100)
    if notebook.locator("#a .pf-play").text_content() == "Pause":
        notebook.locator("#a .pf-play").click()
    assert frame(notebook, "a") > 3
    assert frame(notebook, "b") == 0
    notebook.locator("#b input[type=range]").fill("7")
    assert frame(notebook, "b") == 7
    first = notebook.locator("#a [data-value=t]").get_attribute("data-number")
    other = notebook.locator("#b [data-value=t]").get_attribute("data-number")
    assert float(first) == pytest.approx(3.0 * frame(notebook, "a") / 20)
    assert float(other) == pytest.approx(3.0 * 7 / 20)


def test_python_moves_the_head_and_closing_one_leaves_the_other(notebook):
    notebook.evaluate("() => models.a.fromPython('frame', 20)")
    t = notebook.locator("#a [data-value=t]").get_attribute("data-number")
    assert float(t) == pytest.approx(3.0)
    notebook.evaluate("() => closing.a()")
    assert notebook.locator("#a").evaluate("node => node.childElementCount") == 0
    notebook.locator("#b .pf-view").focus()
    notebook.keyboard.press("ArrowRight")
    assert frame(notebook, "b") == 8
