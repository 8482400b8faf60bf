"""The page without a server: a folder, or one file, with runs recorded beside it.

A page that is opened from a folder may neither load modules nor read files, but it may
load scripts: the page is one script, and every run is another.
"""

import base64
import html
import json
import pathlib
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pushforward as pf
from pushforward._files import write_atomically
from pushforward.errors import InputError
from pushforward.web._recorded import packed_frames, recorded_frames
from pushforward.web._static import static_folder
from pushforward.web.computing._jobs import stored_run
from pushforward.web.computing._phase import Diagram, whole
from pushforward.web.server._files import SHIPPED, beta_of, shipped
from pushforward.web.server._socket import finite
from pushforward.web.state import _words
from pushforward.web.state._experiment import cluster_radius, experiment_of, radius_of
from pushforward.web.state._fit import of_experiment, parse
from pushforward.web.state._given import as_tokens
from pushforward.web.state._presets import STORY, all_presets
from pushforward.web.state._state import Kept, State

# What stands in the head of the built page and is served by nobody here.
SERVED = re.compile(
    r'\s*<(?:script type="module"|link rel="(?:stylesheet|icon)")[^>]*>(?:</script>)?'
)
CLOSES, OPEN = re.compile("</(?=script)", re.IGNORECASE), r"<\\/"  # inside a script
ALONE = (
    "default-src 'none'; script-src 'unsafe-inline' blob: data:; "
    "worker-src blob: data:; style-src 'unsafe-inline'; img-src blob: data:"
)
DIAGRAMS = (Diagram("t-beta", "close", 32, 3), Diagram("beta-d", "close", 32, 3))


def write_site(
    folder: pathlib.Path,
    presets: Sequence[dict] | None = None,
    told: Callable[[str], Any] = print,
    diagrams: Sequence[Diagram] = DIAGRAMS,
) -> None:
    """The whole explorer in a folder: presets, story and diagrams, recorded."""
    chosen = list(all_presets()) if presets is None else list(presets)
    page, style, script = _built()
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    catalog: dict[str, Any] = {
        "presets": chosen,
        "runs": {},
        "phases": {},
        "frames": {},
    }
    asked = [preset["state"] for preset in chosen]
    for k, given in enumerate([*asked, *STORY]):
        state, _ = parse(given, shipped)
        told(f"{k + 1} of {len(asked) + len(STORY)}: {_words.words(state)}")
        name = state.digest()
        if name in catalog["runs"]:
            continue  # a step of the story may be a preset
        about, frames = recorded_state(state)
        catalog["runs"][name] = {**about, "asked": given}
        text = f'PUSHFORWARD.frames["{name}"]="{frames}";\n'
        write_atomically(data / f"{name}.js", text.encode())
        catalog.setdefault("first", name)
    catalog["phases"] = {d.name: finite(whole(d)) for d in diagrams}
    write_atomically(data / "catalog.js", _as_script(catalog).encode())
    for name, text in (("site.js", script), ("site.css", style)):
        write_atomically(folder / name, text.encode())
    head = (
        '<link rel="stylesheet" href="site.css">'
        '<script defer src="data/catalog.js"></script>'
        '<script defer src="site.js"></script>'
    )
    write_atomically(folder / "index.html", _with_head(page, head).encode())


def write_page(path: pathlib.Path, run: pf.Trajectory, title: str, experiment=None):
    """One file with the viewer and one run; nothing else is needed to open it."""
    page, style, script = _built()
    about, frames = recorded_run(run, title, experiment)
    content = {
        "presets": [],
        "phases": {},
        "runs": {"run": about},
        "frames": {"run": frames},
        "first": "run",
    }
    inline = "".join(
        f"<script>{CLOSES.sub(OPEN, text)}</script>"
        for text in (_as_script(content), script)
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{ALONE}">'
        f"<style>{style}</style>"
    )
    page = _with_head(page, head).replace("</body>", f"{inline}</body>")
    shown = f"<title>{html.escape(title)}</title>"
    page = re.sub(r"<title>.*?</title>", lambda _: shown, page)
    write_atomically(path, page.encode())


def recorded_state(state: State) -> tuple[dict, str]:
    """What the page is told of a state, and the frames of its run."""
    if state.model == "recorded":
        run = stored_run(SHIPPED, state)
    else:
        run = experiment_of(state).vary(observe={}).run()
    frames, done = recorded_frames(run, state.beta, radius_of(state))
    return _described(state, done, state.digest()), _squeezed(frames)


def recorded_run(run: pf.Trajectory, title: str, experiment) -> tuple[dict, str]:
    """The same of a run that is there: live where the page has controls for it."""
    last = as_tokens(run.final)
    n, d = last.n, last.d
    beta = beta_of(run.field)
    frames, done = recorded_frames(run, beta, cluster_radius(n, d))
    state, notes = (None, []) if experiment is None else of_experiment(experiment)
    if state is None or notes:
        state = State(model="recorded", file="0" * 32, n=n, d=d, beta=beta)
    about = {"name": title, "space": done["space"]}
    return _described(state, done, "run", lambda name: about), _squeezed(frames)


def _described(state: State, done: dict, name: str, kept: Kept = shipped) -> dict:
    done = {**done, "n": state.n, "d": state.d, "seconds": 0.0}
    accepted = {"run": name, **_words.accepted(state, done, kept)}
    return finite({"accepted": accepted, "done": done})


def _squeezed(frames: list[bytes]) -> str:
    return base64.b64encode(zlib.compress(packed_frames(frames), 9)).decode()


def _as_script(content: dict) -> str:
    text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    return f"globalThis.PUSHFORWARD={text};\n"


def _with_head(page: str, head: str) -> str:
    return SERVED.sub("", page).replace("</head>", f"{head}</head>")


def _built() -> tuple[str, str, str]:
    """The page, its style and its script."""
    folder = static_folder()
    try:
        found = [
            (folder / name).read_text(encoding="utf-8")
            for name in ("index.html", "site.css", "site.js")
        ]
    except OSError as error:
        raise InputError(
            "the page is not built. In a checkout: cd web/page && npm ci && npm run "
            "build"
        ) from error
    return found[0], found[1], found[2]
