"""Attacks from a real browser: pages of other sites, ports and names, and frames.

Each attack runs in headless Chromium that is logged in to the server, as its owner's
browser would be. A page of the attacker reports what it could do.
"""

import functools
import http.server
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import real_browser

FLAGS = [
    *real_browser.FLAGS,
    "--host-resolver-rules=MAP evil.test 127.0.0.1,MAP rebound.test 127.0.0.1",
]
# A browser belongs to the thread that started it, and other tests have browsers too.
THREAD = ThreadPoolExecutor(1)
EVIL_PAGE = b"<!doctype html><title>evil</title><body>evil</body>"


class _Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(EVIL_PAGE)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def evil():
    """A web server of the attacker on another port of this machine."""
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Evil)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made.server_address[1]
    made.shutdown()
    made.server_close()
    thread.join(5)


def in_its_thread(work):
    @functools.wraps(work)
    def run(*arguments, **named):
        return THREAD.submit(work, *arguments, **named).result()

    return run


@pytest.fixture(scope="module")
def context(server):
    """A browser whose owner has opened the page of the server."""
    api, path = real_browser.found()
    playwright = THREAD.submit(api.sync_playwright().start).result()

    @in_its_thread
    def opened():
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        made = browser.new_context()
        page = made.new_page()
        page.goto(server.address)
        assert page.url == f"{server.origin}/", "the token is gone from the address"
        page.close()
        return browser, made

    browser, made = opened()
    yield made
    THREAD.submit(browser.close).result()
    THREAD.submit(playwright.stop).result()


SOCKET = """url => new Promise(done => {
  const socket = new WebSocket(url);
  socket.onopen = () => {
    socket.send(JSON.stringify({type: "run", id: 1, state: {n: 2, frames: 2}}));
  };
  socket.onmessage = () => done("message");
  socket.onclose = () => done("closed");
  setTimeout(() => done("nothing"), 8000);
})"""
FETCH = """async ([url, options]) => {
  try {
    const answer = await fetch(url, options);
    return [answer.type, answer.status, (await answer.text()).length];
  } catch (error) { return ["refused", 0, 0]; }
}"""
FRAME = """url => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.src = url;
  const look = () => {
    let inside = "";
    try { inside = frame.contentDocument.body.innerText; } catch (e) { inside = "?"; }
    done(inside);
  };
  frame.onload = () => setTimeout(look, 200);
  document.body.append(frame);
  setTimeout(() => done("nothing"), 8000);
})"""
TAG = """([kind, url]) => new Promise(done => {
  const tag = document.createElement(kind);
  tag.onload = () => done("loaded");
  tag.onerror = () => done("refused");
  tag.src = url;
  document.body.append(tag);
  setTimeout(() => done("nothing"), 8000);
})"""
FORM = """url => {
  const form = document.createElement("form");
  form.method = "POST"; form.action = url; form.enctype = "multipart/form-data";
  const input = document.createElement("input");
  input.name = "file"; input.value = "1,0,0";
  form.append(input); document.body.append(form); form.submit();
}"""


@pytest.fixture
def visit(context):
    """A page of the context at an address."""
    pages = []

    def opened(url):
        page = context.new_page()
        pages.append(page)
        page.goto(url)
        return page

    yield opened
    for page in pages:
        THREAD.submit(page.close).result()


def places(evil):
    """Another site, and another port of this machine (which gets Strict cookies)."""
    return {"site": f"http://evil.test:{evil}", "port": f"http://127.0.0.1:{evil}"}


@in_its_thread
def test_the_owner_himself_gets_through(server, visit):
    page = visit(f"{server.origin}/")
    url = f"ws://127.0.0.1:{server.port}/api/socket"
    assert page.evaluate(SOCKET, url) == "message"
    found = page.evaluate(FETCH, ["/api/about", {}])
    assert found[:2] == ["basic", 200]
    assert page.evaluate("document.cookie") == "", "scripts do not see the cookie"


@pytest.mark.parametrize("place", ["site", "port"])
@in_its_thread
def test_cross_site_socket(server, evil, visit, place):
    page = visit(places(evil)[place])
    for name in ("127.0.0.1", "localhost", "evil.test"):
        url = f"ws://{name}:{server.port}/api/socket"
        assert page.evaluate(SOCKET, url) == "closed", (place, name)


@pytest.mark.parametrize("place", ["site", "port"])
@in_its_thread
def test_cross_site_reading(server, evil, visit, place):
    page = visit(places(evil)[place])
    url = f"{server.origin}/api/about"
    credentials = {"credentials": "include"}
    assert page.evaluate(FETCH, [url, credentials])[0] == "refused"
    blind = page.evaluate(FETCH, [url, {**credentials, "mode": "no-cors"}])
    assert blind[0] in ("opaque", "refused") and blind[2] == 0
    assert page.evaluate(TAG, ["script", f"{server.origin}/api/presets"]) == "refused"
    assert page.evaluate(TAG, ["img", f"{server.origin}/api/about"]) == "refused"


@pytest.mark.parametrize("place", ["site", "port"])
@in_its_thread
def test_cross_site_writing(server, evil, visit, place):
    before = sorted(p.name for p in server.explorer.files.root.iterdir())
    page = visit(places(evil)[place])
    url = f"{server.origin}/api/upload"
    post = {"method": "POST", "credentials": "include", "body": "x"}
    header = {"X-Pushforward": "1"}
    assert page.evaluate(FETCH, [url, {**post, "headers": header}])[0] == "refused"
    blind = page.evaluate(FETCH, [url, {**post, "mode": "no-cors"}])
    assert blind[2] == 0
    with page.expect_navigation():
        page.evaluate(FORM, url)
    assert "needs X-Pushforward" in page.content() or "other" in page.content()
    assert sorted(p.name for p in server.explorer.files.root.iterdir()) == before


@pytest.mark.parametrize("place", ["site", "port"])
@in_its_thread
def test_framing(server, evil, visit, place):
    page = visit(places(evil)[place])
    inside = page.evaluate(FRAME, f"{server.origin}/")
    assert inside in ("?", "nothing", ""), "what the frame shows is no page of ours"
    frames = [f for f in page.frames if f != page.main_frame]
    assert all(f.url.startswith("chrome-error:") or f.url == "" for f in frames)


@in_its_thread
def test_rebinding(server, visit):
    """A name of the attacker that resolves to this machine, on the server's port."""
    page = visit(f"http://rebound.test:{server.port}/")
    assert "this server is not" in page.content()
    assert page.evaluate(FETCH, ["/api/about", {}])[1] == 421
    url = f"ws://rebound.test:{server.port}/api/socket"
    assert page.evaluate(SOCKET, url) == "closed"
    token = visit(f"http://rebound.test:{server.port}/?token={server.token}")
    assert "this server is not" in token.content()


@in_its_thread
def test_opened_windows_cannot_be_held(server, evil, visit):
    page = visit(places(evil)["site"])
    with page.expect_popup() as popup:
        page.evaluate(f"window.held = window.open('{server.origin}/')")
    popup.value.wait_for_load_state()
    assert page.evaluate("window.held.closed || window.held.length === 0")
    popup.value.close()


@in_its_thread
def test_inline_scripts_do_not_run(server, visit):
    page = visit(f"{server.origin}/")
    blocked = page.evaluate(
        """() => new Promise(done => {
          const name = "securitypolicyviolation";
          document.addEventListener(name, e => done(e.violatedDirective));
          const tag = document.createElement("script");
          tag.textContent = "window.injected = 1";
          document.body.append(tag);
          setTimeout(() => done(window.injected ? "ran" : "nothing"), 2000);
        })"""
    )
    assert blocked.startswith("script-src")
    elsewhere = page.evaluate(FETCH, ["http://evil.test:1/", {}])
    assert elsewhere[0] == "refused"
