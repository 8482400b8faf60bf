"""Figure 1: where causal tokens end on S^2, for six value matrices."""

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward import plot, theory
from pushforward.plot.style import PALETTE, new_figure, styled
from pushforward.studies.causal._atlas import panel
from pushforward.studies.causal.runs import BETA, PANELS
from pushforward.studies.causal.study import Parameters

CAMERA = plot.Camera(azimuth=32.0, elevation=24.0)


def compute_atlas(p: Parameters) -> dict[str, np.ndarray]:
    """Frames of every panel: (panels, times, n, 3)."""
    frames = [panel(p, name) for name in PANELS]
    return {"points": np.stack(frames), "time": np.array(p.atlas_time)}


@styled
def draw_atlas(data: dict[str, np.ndarray]) -> Figure:
    """Trails in the colors of where tokens end; the final places as beads."""
    figure = new_figure(8.4, 6.4)
    axes = figure.subplots(2, 3).ravel()
    panels = zip(axes, PANELS.items(), data["points"], strict=True)
    for ax, (_, V), points in panels:
        run = pf.Trajectory.recorded(pf.Sphere(3), points)
        settles = np.diag(V).max() > 0  # clouds never come to rest: only where they are
        color = plot.ByCluster(0.1) if settles else PALETTE[0]
        plot.sphere(run, ax=ax, camera=CAMERA, color=color, trails=settles)
        entries = ", ".join(f"{value:g}" for value in np.diag(V))
        ending = theory.causal.final_configuration(V).name.lower().replace("_", " ")
        count = pf.observables.Clusters(0.1)(run.final).count
        places = "place" if count == 1 else "places"
        ax.set_title(f"V = diag({entries})\n{ending}; seen: {count} {places}")
    title = (
        f"Causal attention on the sphere, n = 32, β = {BETA:g}, t = {data['time']:g}"
    )
    figure.suptitle(title, fontsize=10.5)
    return figure


FIGURES = {"figure-1-atlas": (compute_atlas, draw_atlas)}
