"""The explorer's view in a notebook: one run, offline, many on one page."""

from typing import Any

import pushforward as pf
from pushforward.errors import InputError
from pushforward.observables import CLUSTER_RADIUS
from pushforward.web._recorded import packed_frames, recorded_frames
from pushforward.web._static import static_folder
from pushforward.web.server._files import beta_of
from pushforward.web.state._given import as_tokens

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    raise InputError(
        f"`view` needs the package {error.name}, which is not installed. Install it "
        "with: pip install 'pushforward[web]'"
    ) from error

WIDGET_BYTES = 64 * 2**20  # what a notebook should hold in one output


class TrajectoryView(anywidget.AnyWidget):
    """A trajectory to turn, play and scrub; `frame` is the one that is shown.

    `frames` holds, for each frame, its length (u32, little endian) and the frame as
    the explorer's server would send it.
    """

    # Traits, not files of the class: the built page is looked up when a view is made.
    _esm = traitlets.Unicode("").tag(sync=True)
    _css = traitlets.Unicode("").tag(sync=True)
    frames = traitlets.Bytes(b"").tag(sync=True)
    meta = traitlets.Dict({}).tag(sync=True)
    frame = traitlets.Int(0).tag(sync=True)
    height = traitlets.Int(520).tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)


def view(
    trajectory: pf.Trajectory,
    *,
    beta: float | None = None,
    radius: float = CLUSTER_RADIUS,
    height: int = 520,
) -> TrajectoryView:
    """The trajectory as a widget; energy is measured at the field's beta."""
    built = static_folder() / "widget.js"
    if not built.is_file():
        raise InputError(
            "`view` needs the built page, which is not there. In a checkout: "
            "cd web/page && npm ci && npm run build"
        )
    if beta is None:
        beta = beta_of(trajectory.field)
    frames, done = recorded_frames(trajectory, beta, radius)
    packed = packed_frames(frames)
    if len(packed) > WIDGET_BYTES:
        raise InputError(
            f"`trajectory` would put {len(packed) / 1e6:.0f} MB into the notebook. "
            "Save fewer frames, or look at it with: pushforward explore RUN"
        )
    last = as_tokens(trajectory.final)
    sizes = {"n": last.n, "d": last.d, "frames": len(frames)}
    meta = {**sizes, "done": done, "words": repr(trajectory), "radius": radius}
    parts: dict[str, Any] = {"_esm": built.read_text()}
    style = built.with_suffix(".css")
    if style.is_file():
        parts["_css"] = style.read_text()
    return TrajectoryView(frames=packed, meta=meta, height=height, **parts)
