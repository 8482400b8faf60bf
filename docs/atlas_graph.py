"""Which results build on which, across papers: a picture and a list of it.

An edge is (study, its result, study it builds on, that result, how). Places are those
of claims, so that a reader finds both ends measured on their pages.
"""

import html
import re

EDGES = [
    (
        "perspective",
        "theorem 6.3",
        "clusters",
        "theorem 2.1",
        "the same attention, put on a sphere by layer norm: leaders become one cluster",
    ),
    (
        "perspective",
        "gradient structure of SA",
        "clusters",
        "section 2",
        "what is a rescaled flow in R^d becomes a gradient flow on the sphere",
    ),
    (
        "metastability",
        "main theorem (1)",
        "perspective",
        "figure 3",
        "proves the plateaus with several clusters that the phase diagrams show",
    ),
    (
        "metastability",
        "staircase theorem",
        "perspective",
        "gradient structure of USA",
        "the energy that climbs is the one whose gradient flow attention is",
    ),
    (
        "causal",
        "theorem 4.1",
        "perspective",
        "theorem 6.1",
        "collapse to one point, with a mask: for every Q, K and beta",
    ),
    (
        "causal",
        "lemma 5.1",
        "metastability",
        "main theorem (1)",
        "centers stay for a time exponential in beta, as clusters do",
    ),
    (
        "lost_in_the_middle",
        "ordered tokens",
        "causal",
        "section 3",
        "the same mask; tokens are many and their order becomes a variable",
    ),
    (
        "lost_in_the_middle",
        "theorem, mean field",
        "mean_field",
        "mean-field limit",
        "a mean-field limit along the order of tokens",
    ),
    (
        "mean_field",
        "linear stability",
        "perspective",
        "circle, growth of waves",
        "growth of perturbations of the uniform law, now of densities",
    ),
    (
        "noise_transition",
        "derived here",
        "mean_field",
        "noise",
        "the threshold of linear stability is where a phase transition may start",
    ),
    (
        "homogenized",
        "theorem, diffusive regime",
        "mean_field",
        "mean-field stability",
        "chaos given a common noise, in place of independence",
    ),
    (
        "homogenized",
        "simplex",
        "perspective",
        "theorem 6.8",
        "equal angles stay equal: in law under random weights, exactly without",
    ),
    (
        "normalization",
        "Theorem 4.3",
        "perspective",
        "theorem 6.3",
        "the rate near one cluster, scheme by scheme of layer norm",
    ),
    (
        "normalization",
        "equiangular tokens, derived here",
        "perspective",
        "theorem 6.8",
        "the equation of equiangular tokens with a radius beside the angle",
    ),
    (
        "context_length",
        "phase transition",
        "perspective",
        "theorem 6.8",
        "one layer on equiangular tokens, as their number grows",
    ),
    (
        "density_modes",
        "main theorem",
        "perspective",
        "number of clusters",
        "sqrt(beta) counts modes of the density that attention climbs",
    ),
    (
        "negative_beta",
        "abstract",
        "perspective",
        "theorem 6.1",
        "the circle and beta below zero, which the theorem leaves open",
    ),
    (
        "landscape",
        "gradient flow",
        "perspective",
        "proposition 3.4",
        "the same energy with a perceptron: no longer least at the uniform law",
    ),
    (
        "momentum",
        "its layer on the sphere, derived here",
        "metastability",
        "section 1",
        "times of plateaus become their square roots",
    ),
    (
        "sinkhorn_attention",
        "gradient flow",
        "perspective",
        "gradient structure of SA",
        "a gradient flow in the plain metric, where softmax needs a weighted one",
    ),
    (
        "sinkhorn_attention",
        "heat limit",
        "statistical_transport",
        "chapter 4, entropic optimal transport",
        "its weights are an entropic transport plan of the tokens to themselves",
    ),
    (
        "frank_wolfe",
        "exponential convergence",
        "clusters",
        "theorem 3.1",
        "at zero temperature the cells of the limit polytope, step by step",
    ),
    (
        "frank_wolfe",
        "metastability",
        "metastability",
        "main theorem (2)",
        "vertices are kept for exponentially long, at finite temperature",
    ),
    (
        "gaussian_tokens",
        "asymptotics",
        "clusters",
        "section 2",
        "tokens of R^d that escape, as a Gaussian whose covariance blows up",
    ),
    (
        "gaussian_tokens",
        "mean-field limit",
        "mean_field",
        "mean-field limit",
        "particles against the limit law, which is Gaussian here",
    ),
    (
        "interpolation",
        "proposition 2.1",
        "perspective",
        "theorem 6.3",
        "consensus of tokens in a hemisphere is one of the building blocks",
    ),
    (
        "normalizing_flows",
        "theorem (i)",
        "interpolation",
        "theorem 1.2",
        "the same switched perceptrons, for one law and with rates",
    ),
    (
        "large_time",
        "large time with tracking",
        "turnpike",
        "linear-quadratic turnpike",
        "deep networks stay near a static optimum, at an exponential rate",
    ),
    (
        "sparsity",
        "stopping time and saturation",
        "large_time",
        "large time without tracking",
        "an L1 price in place of L2: layers after a finite depth are exactly zero",
    ),
    (
        "mixtures",
        "The paper",
        "statistical_transport",
        "chapters 5 and 6, Gaussian gradient flows",
        "Wasserstein-Fisher-Rao flow, taken to the likelihood of a mixture",
    ),
    (
        "empirical_bayes",
        "two stages",
        "mixtures",
        "The paper",
        "attention denoises nearly as well as the likelihood that is maximized",
    ),
    (
        "covariance",
        "The paper",
        "metabolomics",
        "The paper",
        "when matching two tables by their correlations recovers the labels",
    ),
    (
        "trained_models",
        "The paper",
        "perspective",
        "figure 1",
        "the same cosines, in two models that are at hand",
    ),
    (
        "trained_models",
        "The paper",
        "clusters",
        "theorem 4.1",
        "how many trained heads meet the hypotheses",
    ),
]
WIDTH, HEIGHT, GAP_X, GAP_Y = 128, 30, 22, 12


def page(measured: set[tuple[str, str]]) -> str:
    """The picture, then every edge in words; places that are measured are links."""
    lines = [
        "# What builds on what",
        "An arrow goes from a result to one that uses or continues it. A click opens "
        "the page of a paper; the list below says which results, and how.",
        f'```{{raw}} html\n<div class="graph">\n{picture()}\n</div>\n```',
    ]
    for study in sorted({edge[0] for edge in EDGES}):
        lines.append(f"## {words(study)}")
        lines += [
            f"- {_link(child, place, measured)} builds on "
            f"{_link(parent, root, measured)}: {how}."
            for child, place, parent, root, how in EDGES
            if child == study
        ]
    return "\n\n".join(lines) + "\n"


def words(study: str) -> str:
    """The name of a study as words."""
    return study.replace("_", " ")


def slug(place: str) -> str:
    """The anchor that a heading of a page gets."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", place.lower()).strip())


def _link(study: str, place: str, measured: set[tuple[str, str]]) -> str:
    there = f"#{slug(place)}" if (study, place) in measured else ""
    return f"[{words(study)}, {place}]({study}.md{there})"


def picture() -> str:
    """An SVG: columns by the longest way from a paper that builds on none."""
    columns = _columns()
    places = {
        study: (x * (WIDTH + GAP_X) + 8, y * (HEIGHT + GAP_Y) + 8)
        for x, column in enumerate(columns)
        for y, study in enumerate(column)
    }
    wide = len(columns) * (WIDTH + GAP_X) - GAP_X + 16
    high = max(map(len, columns)) * (HEIGHT + GAP_Y) - GAP_Y + 16
    pairs = sorted({(edge[2], edge[0]) for edge in EDGES})
    shapes = [_arrow(*places[a], *places[b]) for a, b in pairs]
    shapes += [_box(study, *at) for study, at in places.items()]
    said = f"{len(places)} papers and {len(pairs)} arrows; the list below has them all"
    return (
        f'<svg viewBox="0 0 {wide} {high}" width="{wide}" role="img" '
        f'aria-label="{said}">\n' + "\n".join(shapes) + "\n</svg>"
    )


def _columns() -> list[list[str]]:
    """Papers by generation; inside a column near the mean height of what they use."""
    parents: dict[str, set[str]] = {}
    for child, _, parent, _, _ in EDGES:
        parents.setdefault(child, set()).add(parent)
        parents.setdefault(parent, set())
    depth: dict[str, int] = {}
    while len(depth) < len(parents):
        for study, used in parents.items():
            if study not in depth and used <= depth.keys():
                depth[study] = 1 + max((depth[u] for u in used), default=-1)
    height: dict[str, float] = {}
    columns = []
    for level in range(max(depth.values()) + 1):
        column = [study for study in sorted(depth) if depth[study] == level]
        column.sort(key=lambda s: _mean([height[u] for u in parents[s]]))
        height |= {study: float(y) for y, study in enumerate(column)}
        columns.append(column)
    return columns


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _arrow(x0: int, y0: int, x1: int, y1: int) -> str:
    """From the right side of a box to the left side of another."""
    a, b, middle = x0 + WIDTH, x1, GAP_X // 2
    y0, y1 = y0 + HEIGHT // 2, y1 + HEIGHT // 2
    return (
        f'<path d="M{a},{y0} C{a + middle},{y0} {b - middle},{y1} {b - 5},{y1}"/>'
        f'<path class="head" d="M{b - 6},{y1 - 3} L{b},{y1} L{b - 6},{y1 + 3} Z"/>'
    )


def _box(study: str, x: int, y: int) -> str:
    return (
        f'<a href="{study}.html"><rect x="{x}" y="{y}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="6"/><text x="{x + WIDTH // 2}" y="{y + 19}">'
        f"{html.escape(words(study))}</text></a>"
    )
