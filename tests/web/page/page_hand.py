"""A hand on the page: opens it, waits for runs, and notes every complaint."""

import base64
import json
import time
import zlib

PATIENCE = 180.0  # a busy machine is slow, not wrong


def link_of(state: dict) -> str:
    """The hash of a state, written from the contract and not by the page."""
    text = json.dumps(state).encode()
    return "#s=" + base64.urlsafe_b64encode(text).decode().rstrip("=")


def state_of(link: str) -> dict:
    """What a link of the page holds."""
    text = link.split("#s=")[1]
    return json.loads(
        zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    )


class Hand:
    """One page in one context of its own; motion is reduced unless asked for."""

    def __init__(self, browser, server, width=1000, height=760, **context):
        self.server = server
        settings = {"reduced_motion": "reduce", "color_scheme": "light", **context}
        size = {"width": width, "height": height}
        self.context = browser.new_context(viewport=size, **settings)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        if "favicon" not in request.url:  # the browser asks for it when it likes
            self.requests.append(request.url)
        ours = (self.server.origin + "/", "blob:" + self.server.origin, "data:")
        if not request.url.startswith(ours):
            self.complaints.append(f"request to another host: {request.url}")

    def open(self, state: dict, wait: bool = True):
        """Trade the token, then open the link of a state and wait for its run."""
        traded = self.context.request.get(self.server.address, max_redirects=0)
        assert traded.status == 303, "the token is traded without loading the page"
        self.page.goto(self.server.origin + "/" + link_of(state))
        if wait:
            self.wait_run()
        else:
            self.until("() => globalThis.pushforward", "the page")
        return self

    def call(self, expression: str):
        """Evaluate an arrow function in the page."""
        return self.page.evaluate(expression)

    def until(self, expression: str, what: str):
        """Ask again until the expression holds."""
        end = time.monotonic() + PATIENCE
        while not (found := self.call(expression)):
            assert time.monotonic() < end, f"waited in vain for {what}"
            self.page.wait_for_timeout(50)
        return found

    def wait_run(self, other_than: str | None = None) -> str:
        """The id of a run that is complete and drawn."""
        other = json.dumps(other_than)
        ready = f"""() => {{
            const run = document.querySelector('#stage').dataset.run;
            return run && run !== {other} && pushforward.complete() && run; }}"""
        return self.until(ready, "a complete run")

    def wait_webgl(self):
        """Wait until WebGL draws; the first picture is a plain sketch."""
        drawn = "() => document.querySelector('#stage').dataset.drawn"
        assert self.until(drawn, "a drawing") == "webgl"

    @property
    def run(self) -> str:
        """The id of the run on the stage."""
        return self.page.locator("#stage").get_attribute("data-run")

    def frame(self) -> int:
        """The frame under the play head."""
        return self.call("() => pushforward.frame()")

    def state(self) -> dict:
        """The state of the page."""
        return self.call("() => pushforward.state()")

    def numbers(self, k: int) -> dict:
        """The numbers of a frame as the page keeps them."""
        return self.call(f"() => pushforward.numbers({k})")

    def press(self, *keys: str):
        """Keys only: no pointer."""
        for key in keys:
            self.page.keyboard.press(key)

    def close(self):
        """Give the context back."""
        self.context.close()
