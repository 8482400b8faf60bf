"""The bibliography, by key; docstrings name keys in square brackets."""

import inspect
import re

import pushforward

PAPERS = {
    "geshkovski2023perspective": (
        "article",
        "Geshkovski, Borjan and Letrouit, Cyril and Polyanskiy, Yury and Rigollet, "
        "Philippe",
        "A mathematical perspective on Transformers",
        "Bulletin of the American Mathematical Society",
        2025,
        "2312.10794",
    ),
    "geshkovski2023clusters": (
        "inproceedings",
        "Geshkovski, Borjan and Letrouit, Cyril and Polyanskiy, Yury and Rigollet, "
        "Philippe",
        "The emergence of clusters in self-attention dynamics",
        "Advances in Neural Information Processing Systems",
        2023,
        "2305.05465",
    ),
    "karagodin2024causal": (
        "inproceedings",
        "Karagodin, Nikita and Polyanskiy, Yury and Rigollet, Philippe",
        "Clustering in causal attention masking",
        "Advances in Neural Information Processing Systems",
        2024,
        "2411.04990",
    ),
    "geshkovski2024metastability": (
        "misc",
        "Geshkovski, Borjan and Koubbi, Hugo and Polyanskiy, Yury and Rigollet, "
        "Philippe",
        "Dynamic metastability in the self-attention model",
        "",
        2024,
        "2410.06833",
    ),
    "rigollet2025meanfield": (
        "misc",
        "Rigollet, Philippe",
        "The mean-field dynamics of Transformers",
        "",
        2025,
        "2512.01868",
    ),
    "bruno2024emergence": (
        "misc",
        "Bruno, Giuseppe and Pasqualotto, Federico and Agazzi, Andrea",
        "Emergence of meta-stable clustering in mean-field transformer models",
        "",
        2024,
        "2410.23228",
    ),
    "chen2025longcontext": (
        "misc",
        "Chen, Shi and others",
        "Critical attention scaling in long-context transformers",
        "",
        2025,
        "2510.05554",
    ),
    "alcalde2025frankwolfe": (
        "misc",
        "Alcalde, Albert and Geshkovski, Borjan and Ruiz-Balet, Domènec",
        "Attention's forward pass and Frank-Wolfe",
        "",
        2025,
        "2508.09628",
    ),
    "karagodin2025normalization": (
        "misc",
        "Karagodin, Nikita and others",
        "Normalization in attention dynamics",
        "",
        2025,
        "2510.22026",
    ),
    "boixadsera2022gulp": (
        "inproceedings",
        "Boix-Adsera, Enric and Lawrence, Hannah and Stepaniants, George an"
        "d Rigollet, Philippe",
        "GULP: a prediction-based metric between representations",
        "Advances in Neural Information Processing Systems",
        2022,
        "2210.06545",
    ),
    "han2025covariance": (
        "article",
        "Han, Yanjun and Rigollet, Philippe and Stepaniants, George",
        "Covariance alignment: from maximum likelihood estimation to "
        "Gromov-Wasserstein",
        "SIAM Journal on Mathematics of Data Science",
        2025,
        "2311.13595",
    ),
    "breeur2024gromovmatcher": (
        "article",
        "Breeur, Marie and Stepaniants, George and Keski-Rahkonen, Pekka an"
        "d Rigollet, Philippe and Viallon, Vivian",
        "Optimal transport for automatic alignment of untargeted metabolomic data",
        "eLife",
        2024,
        "2306.03218",
    ),
    "yan2024npmle": (
        "article",
        "Yan, Yuling and Wang, Kaizheng and Rigollet, Philippe",
        "Learning Gaussian mixtures using the Wasserstein-Fisher-Rao gradient flow",
        "Annals of Statistics",
        2024,
        "2301.01766",
    ),
    "chewi2024statistical": (
        "misc",
        "Chewi, Sinho and Niles-Weed, Jonathan and Rigollet, Philippe",
        "Statistical optimal transport",
        "",
        2024,
        "2407.18163",
    ),
    "geshkovski2022turnpike": (
        "article",
        "Geshkovski, Borjan and Zuazua, Enrique",
        "Turnpike in optimal control of PDEs, ResNets, and beyond",
        "Acta Numerica",
        2022,
        "2202.04097",
    ),
    "esteveyague2023sparsity": (
        "article",
        "Esteve-Yagüe, Carlos and Geshkovski, Borjan",
        "Sparsity in long-time control of neural ODEs",
        "Systems and Control Letters",
        2023,
        "2102.13566",
    ),
    "esteveyague2020large": (
        "misc",
        "Esteve, Carlos and Geshkovski, Borjan and Pighin, Dario and Zuazua, Enrique",
        "Large-time asymptotics in deep learning",
        "",
        2020,
        "2008.02491",
    ),
    "geshkovski2026conditional": (
        "misc",
        "Geshkovski, Borjan and Ruiz-Balet, Domènec",
        "Constructive conditional normalizing flows",
        "",
        2026,
        "2602.08606",
    ),
    "alvarezlopez2026perceptrons": (
        "misc",
        "Álvarez-López, Antonio and Geshkovski, Borjan and Ruiz-Balet, Domènec",
        "Perceptrons and localization of attention's mean-field landscape",
        "",
        2026,
        "2601.21366",
    ),
}


def bibtex(key: str) -> str:
    """One entry of the bibliography as BibTeX."""
    kind, author, title, venue, year, arxiv = PAPERS[key]
    field = {"article": "journal", "inproceedings": "booktitle"}.get(kind)
    lines = [f"  author = {{{author}}},", f"  title = {{{title}}},"]
    if field:
        lines.append(f"  {field} = {{{venue}}},")
    lines += [f"  year = {{{year}}},", f"  eprint = {{{arxiv}}},"]
    lines.append("  archivePrefix = {arXiv}")
    return f"@{kind}{{{key},\n" + "\n".join(lines) + "\n}"


def software() -> str:
    """The entry for this program."""
    return (
        "@software{pushforward,\n"
        "  author = {{The pushforward authors}},\n"
        "  title = {pushforward: Transformers as flow maps on probability measures},\n"
        f"  version = {{{pushforward.__version__}}},\n  year = {{2026}}\n}}"
    )


def cite(*objects: object) -> str:
    """BibTeX of what the given objects implement, found in their docstrings.

    >>> print(cite(Attention(9.0)).splitlines()[0])
    @article{geshkovski2023perspective,
    """
    found: list[str] = []
    for obj in objects:
        named = obj if inspect.isclass(obj) or inspect.isroutine(obj) else type(obj)
        text = (inspect.getdoc(named) or "") + (
            inspect.getdoc(inspect.getmodule(named)) or ""
        )
        found += [k for k in re.findall(r"[a-z]+20\d\d[a-z]+", text) if k in PAPERS]
    return "\n\n".join(bibtex(key) for key in dict.fromkeys(found))
