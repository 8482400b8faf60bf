"""Pages of the atlas, written from the studies before Sphinx reads them.

`docs/results/STUDY.json` holds what `pushforward study verify STUDY --json` printed;
`make atlas` makes them again, with the figures in `out/studies`, which are shown where
they are there. A statement without a result says how to measure it.
"""

import json
import pathlib
import re
import shutil
from collections import Counter

import atlas_graph
from atlas_figures import drawn, figure_anchor, gallery

from pushforward import studies
from pushforward._references import PAPERS

HERE = pathlib.Path(__file__).parent
PAGES = HERE / "atlas"
RESULTS = HERE / "results"
STATUSES = ("holds", "corrected", "refuted", "open", "fails")
WORDS = {
    "holds": "holds",
    "corrected": "corrected: measured as stated here, not as printed",
    "refuted": "refuted: what is printed is not what is measured",
    "open": "open",
    "fails": "fails",
}


def write() -> None:
    """All pages, into `docs/atlas`."""
    shutil.rmtree(PAGES, ignore_errors=True)
    (PAGES / "images").mkdir(parents=True)
    rows = {name: results(name) for name in studies.names()}
    for name, found in rows.items():
        (PAGES / f"{name}.md").write_text(page(name, found))
    (PAGES / "index.md").write_text(index(rows))
    (PAGES / "errata.md").write_text(errata(rows))
    (PAGES / "gallery.md").write_text(gallery())
    measured = {(c.study, place_of(c)) for found in rows.values() for c in found}
    (PAGES / "builds-on.md").write_text(atlas_graph.page(measured))


def results(name: str) -> list[studies.Claim]:
    """What was measured; nothing where that is older than the claims of the study."""
    path = RESULTS / f"{name}.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    if len(rows) != len(studies.part(name, "claims").CLAIMS):
        return []
    return [
        studies.Claim(**{k: v for k, v in row.items() if k != "slack"}) for row in rows
    ]


def reference(key: str) -> str:
    """Authors, title and year, with a link to the paper."""
    _, authors, title, _, year, arxiv = PAPERS[key]
    people = [who.split(",")[0] for who in authors.split(" and ")]
    link = f"[arXiv {arxiv}](https://arxiv.org/abs/{arxiv})" if arxiv else ""
    return f"{', '.join(people)}: *{title}* ({year}). {link} {{ref}}`{key} <{key}>`"


def plain(text: str) -> str:
    """Text whose signs Markdown would take for its own."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", text)


def counted(found: list[studies.Claim]) -> str:
    """How many statements have which status."""
    counts = Counter(claim.status for claim in found)
    one = lambda s: s if counts[s] == 1 else s.removesuffix("s")  # 1 holds, 2 hold  # noqa: E731
    return ", ".join(f"{counts[s]} {one(s)}" for s in STATUSES if counts[s])


def page(name: str, found: list[studies.Claim]) -> str:
    """One paper: statements by place, figures, experiments."""
    study = studies.part(name, "study")
    readme = pathlib.Path(study.__file__).with_name("README.md").read_text()
    first = next(p for p in readme.split("\n\n")[1:] if not p.startswith(("#", "|")))
    parts = [
        f"# {study.TITLE}",
        reference(study.PAPER),
        first,
        f"Measured again by `pushforward study verify {name}`, drawn by "
        f"`pushforward study run {name}`.",
        "## Statements",
        *(statements(name, found) if found else unmeasured(name)),
        "## Figures",
        *(figure(name, label) for label in studies.part(name, "figures").FIGURES),
        *in_the_explorer(name),
        "## Experiments",
        *experiments(name),
    ]
    return "\n\n".join(parts) + "\n"


def statements(name: str, found: list[studies.Claim]) -> list[str]:
    """By place in the paper, in the order of the study."""
    own = studies.part(name, "study").PAPER
    places: dict[tuple[str, str], list[tuple[studies.Claim, str]]] = {}
    for claim, function in zip(found, studies.part(name, "claims").CLAIMS, strict=True):
        key, row = claim.reference.split(",")[0], (claim, str(function.__doc__ or ""))
        places.setdefault((place_of(claim), key), []).append(row)
    lines = [f"{len(found)} statements: {counted(found)}."]
    for (place, key), rows in places.items():
        lines.append(f"### {place[0].upper()}{place[1:]}")
        if key != own:
            lines.append(f"Of {reference(key)}")
        lines += [statement(claim, said) for claim, said in rows]
    return lines


def place_of(claim: studies.Claim) -> str:
    """Where in its paper a claim stands."""
    return claim.reference.partition(", ")[2] or "The paper"


def statement(claim: studies.Claim, said: str = "") -> str:
    """Words, status, formula, numbers, note, run and figures of one claim."""
    words, said = claim.claim.rstrip("."), said.strip().splitlines()[:1]
    text = f"- **{plain(words)}.** *{claim.kind}, {WORDS[claim.status]}.*"
    if said and said[0].rstrip(".") != words:
        text += f" {plain(said[0].rstrip('.'))}."
    if claim.measured is not None:
        text += f" {numbers(claim)}."
    if claim.note:
        text += f" Note: {plain(claim.note.rstrip('.'))}."
    if claim.experiment:
        text += f" Run: [{claim.experiment}](#{anchor(claim.study, claim.experiment)})."
    shown = figures_of(claim)
    return text + (f" Figure: {', '.join(shown)}." if shown else "")


def figures_of(claim: studies.Claim) -> list[str]:
    """Links to the figures that show the run of a claim."""
    labels = studies.part(claim.study, "figures").FIGURES if claim.experiment else ()
    return [
        f"[{label.replace('-', ' ')}](#{figure_anchor(claim.study, label)})"
        for label in labels
        if studies.experiment_of(claim.study, label) == claim.experiment
    ]


def numbers(claim: studies.Claim) -> str:
    """Measured, the relation, predicted, tolerance."""
    signs = {"rate": "=", "refuted": "≠", ">=": "≥", "<=": "≤"}
    sign = signs.get(claim.relation, claim.relation)
    text = f"Measured {claim.measured:.6g} {sign} {claim.predicted:.6g}"
    if claim.tolerance:
        text += f" ± {claim.tolerance:.2g}"
    return text


def anchor(name: str, run: str) -> str:
    """Where the page of a study shows an experiment."""
    return re.sub(r"[^a-z0-9]+", "-", f"{name} run {run}".lower()).strip("-")


def unmeasured(name: str) -> list[str]:
    """The statements in words, where no result is stored."""
    functions = studies.part(name, "claims").CLAIMS
    words = [(f.__doc__ or f.__name__).strip().splitlines()[0] for f in functions]
    how = f"{len(words)} statements; no results are stored here: run the command above."
    return [how, "\n".join(f"- {plain(text)}" for text in words)]


def lines_of(name: str, label: str) -> str:
    """The few lines that make a figure."""
    return (
        "```python\nfrom pushforward import plot, studies\n\n"
        f'compute, draw = studies.part("{name}", "figures").FIGURES["{label}"]\n'
        f'figure = draw(compute(studies.parameters("{name}")))\n'
        f'plot.save(figure, "{label}.png")\n```'
    )


def figure(name: str, label: str) -> str:
    """A picture with its lines; the lines alone where it was not drawn."""
    compute, _ = studies.part(name, "figures").FIGURES[label]
    words = (compute.__doc__ or label).strip().splitlines()[0]
    picture = drawn(name, label)
    alt = words.replace('"', "'")
    shown = f"![{plain(alt)}](images/{picture})\n\n" if picture else ""
    run = studies.experiment_of(name, label)
    more = f" Run: [{run}](#{anchor(name, run)})." if run else ""
    title = label.replace("-", " ").replace("_", " ")
    head = f"({figure_anchor(name, label)})=\n### Figure: {title}"
    return f"{head}\n\n{shown}{plain(words)}{more}\n\n{lines_of(name, label)}"


def in_the_explorer(name: str) -> list[str]:
    """The presets of a study, which the explorer offers by name."""
    found = studies.presets(name)
    rows = [f"- **{plain(preset.title)}**: {plain(preset.claim)}" for preset in found]
    how = "`pushforward explore` offers these by name, live:"
    return ["## Open in the explorer", how, "\n".join(rows)] if found else []


def experiments(name: str) -> list[str]:
    """Every run as Python and TOML, and how to open it in the explorer."""
    found = studies.experiments(name)
    if not found:
        return [getattr(studies.part(name, "study"), "NO_RUNS", "No runs.")]
    return [experiment(name, run, one) for run, one in found.items()]


def experiment(name: str, run: str, one) -> str:
    """One run."""
    command = (
        f"pushforward study runs {name} {run} --toml > run.toml\n"
        "pushforward simulate run.toml   # or: pushforward explore run.toml"
    )
    return (
        f"({anchor(name, run)})=\n### {run}\n\n"
        f"{_block('python', one.to_python())}\n\n{_block('toml', one.to_toml())}\n\n"
        f"```bash\n{command}\n```"
    )


def _block(language: str, text: str) -> str:
    """A block of code; one that is cut is no longer of its language."""
    short = _short(text)
    return f"```{language if short == text else 'text'}\n{short}```"


def _short(text: str, most: int = 60) -> str:
    """Long tables of given points are cut; the command prints all of them."""
    lines = [
        line if len(line) < 160 else f"{line[:150]} ..." for line in text.split("\n")
    ]
    if len(lines) > most:
        lines = [*lines[:most], f"# ... {len(lines) - most} more lines", ""]
    return "\n".join(lines)


def index(rows: dict[str, list[studies.Claim]]) -> str:
    """All papers, with their counts."""
    every = [claim for found in rows.values() for claim in found]
    table = ["| paper | statements |", "| --- | --- |"]
    for name, found in rows.items():
        listed = len(studies.part(name, "claims").CLAIMS)
        counts = counted(found) if found else f"{listed}, not measured in this build"
        table.append(f"| [{studies.part(name, 'study').TITLE}]({name}.md) | {counts} |")
    return (
        "# Atlas\n\nWhat the field has stated, what was measured, and what had to be "
        f"corrected: {len(every)} statements of {len(rows)} papers, {counted(every)}. "
        "Every number is printed by `pushforward study verify`, with the relation that "
        "decides it.\n\n" + "\n".join(table) + "\n\n"
        "```{toctree}\n:maxdepth: 1\n\ngallery\nerrata\nbuilds-on\n"
        + "\n".join(rows)
        + "\n```\n"
    )


def errata(rows: dict[str, list[studies.Claim]]) -> str:
    """Printed statements that are refuted, and what corrects them."""
    parts = [
        "# Errata",
        "Where a printed statement and a measurement disagree, and what was measured "
        "instead. A refutation is decided by the distance from the printed number, "
        "stated with its tolerance; a correction is measured like any other claim.",
    ]
    for name, found in rows.items():
        wrong = [claim for claim in found if claim.kind == "erratum"]
        if wrong:
            parts.append(f"## {studies.part(name, 'study').TITLE}")
            parts.append(reference(studies.part(name, "study").PAPER))
            parts += [statement(c) for c in wrong]
    return "\n\n".join(parts) + "\n"
