"""A million tokens beside the mean-field density they should follow.

    python -m benchmarks.density docs/images/density.png

Tokens start uniform, as `pushforward simulate` draws them, and flow by attention at
beta = 9. The density starts from their low modes, which alone it feels, and flows by
the same equation; nothing is fitted. Prints how far apart they are.
"""

import argparse
import pathlib
import time

import numpy as np
from matplotlib.figure import Figure

import pushforward as pf
from pushforward.plot.style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled

BETA = 9.0
CIRCLE_TIMES, SPHERE_TIME = (7.0, 8.5, 9.5), 6.5
MODES = {2: 32, 3: 20}  # of the tokens at the start; the kernel erases the others
RESOLUTION = {2: 512, 3: 112}
SOLVER = pf.Adaptive(rtol=1e-6, atol=1e-8)
BINS = 180  # on the circle
STRIPS = 36  # of equal area on S^2, with twice as many bins around
FINER = 6  # points of the density in a bin, each way
TOKENS = "#a9cfe8"


def flows(space, n: int, times) -> tuple[np.ndarray, list[pf.Density]]:
    """Tokens, and densities, at those times."""
    start = time.process_time()
    mu = pf.Particles.uniform(space, n, key=pf.key_for(0, "tokens"))
    rho = pf.Density.from_particles(mu, RESOLUTION[space.d])
    low = rho.basis.degrees <= MODES[space.d]
    rho = rho.moved(np.where(low, rho.coefficients, 0.0))
    field, save = pf.Attention(BETA), [0.0, *times]
    tokens = pf.flow(field, mu, times[-1], save=save, solver=SOLVER)
    middle = time.process_time()
    density = pf.flow(field, rho, times[-1], save=save, solver=SOLVER)
    assert density.outcome.kind == tokens.outcome.kind == "reached t1"
    print(
        f"{space}: n = {n:,} in {tokens.steps} steps, {middle - start:.0f} CPU s; "
        f"density in {density.steps} steps, {time.process_time() - middle:.0f} CPU s"
    )
    modes = density.measures.coefficients[1:]
    return np.asarray(tokens.points)[1:], [rho.moved(c) for c in modes]


def on_circle(n: int) -> dict[str, np.ndarray]:
    """Histograms at three times, and the density on a fine grid and in every bin."""
    points, densities = flows(pf.Circle(), n, CIRCLE_TIMES)
    edges = np.linspace(-np.pi, np.pi, BINS + 1)
    angles = np.arctan2(points[..., 1], points[..., 0])
    found = [np.histogram(a, edges)[0] * BINS / n for a in angles]
    theta = np.linspace(-np.pi, np.pi, 10 * BINS + 1)
    fine = np.array([_on_angles(rho, theta) for rho in densities])
    inside = [(f[:-1] + f[1:]).reshape(BINS, 10).mean(1) / 2 for f in fine]
    return {
        "edges": edges,
        "found": np.array(found),
        "theta": theta,
        "density": fine,
        "expected": np.array(inside),
        "n": np.array(n),
    }


def on_sphere(n: int) -> dict[str, np.ndarray]:
    """Tokens in bins of equal area, and the density averaged over each."""
    points, (rho,) = flows(pf.Sphere(3), n, (SPHERE_TIME,))
    heights = np.linspace(-1, 1, STRIPS + 1)
    edges = np.linspace(-np.pi, np.pi, 2 * STRIPS + 1)
    x, y, z = points[0].T
    counts = np.histogram2d(z, np.arctan2(y, x), [heights, edges])[0]
    fine = [_refined(e) for e in (heights, edges)]
    z, a = np.meshgrid(*((e[1:] + e[:-1]) / 2 for e in fine), indexing="ij")
    r = np.sqrt(1 - z**2)
    at = np.stack([r * np.cos(a), r * np.sin(a), z], axis=-1).reshape(-1, 3)
    values = np.asarray(rho(at)).reshape(z.shape)
    return {
        "heights": heights,
        "edges": edges,
        "found": counts * counts.size / n,
        "fine heights": fine[0],
        "fine edges": fine[1],
        "density": values,
        "expected": values.reshape(STRIPS, FINER, 2 * STRIPS, FINER).mean((1, 3)),
        "n": np.array(n),
    }


def _refined(edges: np.ndarray) -> np.ndarray:
    return np.linspace(edges[0], edges[-1], FINER * (len(edges) - 1) + 1)


def _on_angles(rho: pf.Density, theta: np.ndarray) -> np.ndarray:
    return np.asarray(rho(np.stack([np.cos(theta), np.sin(theta)], axis=1)))


@styled
def draw(circle: dict[str, np.ndarray], sphere: dict[str, np.ndarray]) -> Figure:
    """Above the circle at three times; below S^2, its theory, and both bin by bin."""
    figure = new_figure(9.0, 5.3, layout=None)
    _draw_circle(figure, circle)
    top = max(float(sphere["found"].max()), float(sphere["expected"].max()))
    maps = (
        ("edges", "heights", "found", f"{int(sphere['n']):,} tokens on S²"),
        ("fine edges", "fine heights", "density", "mean-field density"),
    )
    for left, (edges, heights, values, name) in zip((0.02, 0.35), maps, strict=True):
        ax = figure.add_axes((left, 0.12, 0.315, 0.31), projection="mollweide")
        mesh = ax.pcolormesh(
            sphere[edges],
            np.arcsin(sphere[heights]),
            sphere[values],
            cmap=DEPTHS,
            vmin=0,
            vmax=top,
            rasterized=True,
        )
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(f"{name}, t = {SPHERE_TIME:g}")
    bar_axes = figure.add_axes((0.2125, 0.085, 0.26, 0.014))
    bar = figure.colorbar(mesh, cax=bar_axes, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.set_label("density (uniform = 1)")
    _draw_bins(figure.add_axes((0.755, 0.115, 0.225, 0.315)), sphere)
    return figure


def _draw_circle(figure: Figure, data: dict[str, np.ndarray]) -> None:
    name = f"{int(data['n']):,} tokens on the circle and their mean-field density"
    figure.text(0.5, 0.965, f"{name}, β = {BETA:g}", ha="center", fontsize=10)
    rows = zip(CIRCLE_TIMES, data["found"], data["density"], strict=True)
    for i, (t, found, rho) in enumerate(rows):
        ax = figure.add_axes((0.065 + 0.3225 * i, 0.585, 0.27, 0.315))
        ax.stairs(found, data["edges"], fill=True, color=TOKENS, label="tokens")
        ax.plot(data["theta"], rho, color=INK, lw=1.0, label="mean field")
        ax.set_title(f"t = {t:g}")
        ax.set_xlim(-np.pi, np.pi)
        ax.set_ylim(0, 1.05 * rho.max())
        ax.set_xticks([-np.pi, 0, np.pi], ["−π", "0", "π"])
        ax.set_xlabel("angle", labelpad=1)
        if i == 0:
            ax.set_ylabel("density (uniform = 1)")
    ax.legend(loc="upper right")


def _draw_bins(ax, data: dict[str, np.ndarray]) -> None:
    """Every bin as a dot; the band is two standard deviations of counting."""
    found, expected = data["found"].ravel(), data["expected"].ravel()
    line = np.linspace(0, max(found.max(), expected.max()), 200)
    spread = 2 * np.sqrt(line * found.size / float(data["n"]))
    ax.fill_between(line, line - spread, line + spread, color="#e3e8ef", lw=0)
    ax.plot(line, line, color=SOFT, lw=0.8)
    ax.plot(expected, found, ".", ms=1.6, color=PALETTE[0], rasterized=True)
    ax.set_xlabel("mean field")
    ax.set_ylabel("tokens")
    ax.set_title("bin by bin (band: ± 2σ of counting)", fontsize=8.5)
    ax.set_xlim(0, line[-1])
    ax.set_ylim(0, line[-1])


def said(name: str, found: np.ndarray, expected: np.ndarray, n: int) -> str:
    """The distance of the two, beside what counting independent tokens would give."""
    apart = np.sqrt(np.mean((found - expected) ** 2))
    counting = np.sqrt(np.mean(expected) * found.size / n)
    return f"{name}: apart {apart:.2e}, counting {counting:.2e} (root mean square)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.density")
    parser.add_argument("out", nargs="?", default="out/density.png")
    options = parser.parse_args()
    circle, sphere = on_circle(1_000_000), on_sphere(200_000)
    for t, found, expected in zip(
        CIRCLE_TIMES, circle["found"], circle["expected"], strict=True
    ):
        print(said(f"circle, t = {t:g}", found, expected, int(circle["n"])))
    print(said("S^2", sphere["found"], sphere["expected"], int(sphere["n"])))
    path = pathlib.Path(options.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    print(pf.plot.save(draw(circle, sphere), path, dpi=160))


if __name__ == "__main__":
    main()
