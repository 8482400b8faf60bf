"""The bibliography, by key; more than 300 lines because it is a table.

Docstrings name keys in square brackets.
"""

import inspect
import re
from typing import Any

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
    "walker2011anderson": (
        "article",
        "Walker, Homer F. and Ni, Peng",
        "Anderson acceleration for fixed-point iterations",
        "SIAM Journal on Numerical Analysis",
        2011,
        "",
    ),
    "peyre2016gromov": (
        "inproceedings",
        "Peyre, Gabriel and Cuturi, Marco and Solomon, Justin",
        "Gromov-Wasserstein averaging of kernel and distance matrices",
        "International Conference on Machine Learning",
        2016,
        "",
    ),
    "zhang2024gromov": (
        "article",
        "Zhang, Zhengxin and Goldfeld, Ziv and Mroueh, Youssef and Sriperumbudur, "
        "Bharath",
        "Gromov-Wasserstein distances: entropic regularization, duality and sample "
        "complexity",
        "The Annals of Statistics",
        2024,
        "2212.12848",
    ),
    "le2022entropic": (
        "inproceedings",
        "Le, Khang and Le, Dung Q. and Nguyen, Huy and Do, Dat and Pham, Tung and Ho, "
        "Nhat",
        "Entropic Gromov-Wasserstein between Gaussian distributions",
        "International Conference on Machine Learning",
        2022,
        "2108.10961",
    ),
    "schmitzer2016sparse": (
        "article",
        "Schmitzer, Bernhard",
        "A sparse multiscale algorithm for dense optimal transport",
        "Journal of Mathematical Imaging and Vision",
        2016,
        "1510.05466",
    ),
    "genevay2016stochastic": (
        "inproceedings",
        "Genevay, Aude and Cuturi, Marco and Peyre, Gabriel and Bach, Francis",
        "Stochastic optimization for large-scale optimal transport",
        "Advances in Neural Information Processing Systems",
        2016,
        "1605.08527",
    ),
    "bonet2023spherical": (
        "inproceedings",
        "Bonet, Clement and Berg, Paul and Courty, Nicolas and Septier, Francois and "
        "Drumetz, Lucas and Pham, Minh-Tan",
        "Spherical sliced-Wasserstein",
        "International Conference on Learning Representations",
        2023,
        "2206.08780",
    ),
    "feydy2019interpolating": (
        "inproceedings",
        "Feydy, Jean and Sejourne, Thibault and Vialard, Francois-Xavier and Amari, "
        "Shun-ichi and Trouve, Alain and Peyre, Gabriel",
        "Interpolating between optimal transport and MMD using Sinkhorn divergences",
        "International Conference on Artificial Intelligence and Statistics",
        2019,
        "1810.08278",
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
    "geshkovski2024measure": (
        "article",
        "Geshkovski, Borjan and Rigollet, Philippe and Ruiz-Balet, Domenec",
        "Measure-to-measure interpolation using Transformers",
        "Foundations of Computational Mathematics",
        2024,
        "2411.04551",
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
    "mun2026phase": (
        "misc",
        "Mun and Rosenzweig",
        "Phase transitions for the noisy transformer model in arbitrary dimension",
        "",
        2026,
        "2606.05140",
    ),
    "bruno2026scaling": (
        "misc",
        "Bruno, Chen, Lin, Polyanskiy and Rigollet",
        "Scaling limits of long-context transformers",
        "",
        2026,
        "2605.08505",
    ),
    "polyanskiy2025synchronization": (
        "misc",
        "Polyanskiy, Rigollet and Yao",
        "Synchronization of mean-field models on the circle",
        "",
        2025,
        "2507.22857",
    ),
    "geshkovski2024modes": (
        "misc",
        "Geshkovski, Rigollet and Sun",
        "On the number of modes of Gaussian kernel density estimators",
        "",
        2024,
        "2412.09080",
    ),
    "castin2025unified": (
        "misc",
        "Castin, Ablin, Carrillo and Peyr{\\'e}",
        "A unified perspective on the dynamics of deep transformers",
        "",
        2025,
        "2501.18322",
    ),
    "alcalde2026gaussian": (
        "misc",
        "Alcalde, Ji and Zuazua",
        "Reachability and asymptotics of Gaussian transformer dynamics",
        "",
        2026,
        "2606.07600",
    ),
    "zimin2026yuriiformer": (
        "misc",
        "Zimin, Polyanskiy and Rigollet",
        "YuriiFormer",
        "",
        2026,
        "2601.23236",
    ),
    "smart2026empirical": (
        "misc",
        "Smart, Ganguly, Metya, Morozov and Sengupta",
        "Attention as in-context empirical Bayes",
        "",
        2026,
        "2605.29351",
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
    "sander2022sinkformers": (
        "inproceedings",
        "Sander, Ablin, Blondel and Peyr{\\'e}",
        "Sinkformers: transformers with doubly stochastic attention",
        "International Conference on Artificial Intelligence and Statistics",
        2022,
        "2110.11773",
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
    "stephens2017fdr": (
        "article",
        "Stephens, Matthew",
        "False discovery rates: a new deal",
        "Biostatistics",
        2017,
        "",
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
    "press2022alibi": (
        "inproceedings",
        "Press, Ofir and Smith, Noah A. and Lewis, Mike",
        "Train short, test long: attention with linear biases enables input length "
        "extrapolation",
        "International Conference on Learning Representations",
        2022,
        "2108.12409",
    ),
    "duerinckx2026kinetic": (
        "misc",
        "Duerinckx, Mitia and Geshkovski, Borjan and Rossi",
        "Kinetic theory for Transformers and the lost-in-the-middle phenomenon",
        "",
        2026,
        "2605.09213",
    ),
    "koubbi2026homogenized": (
        "misc",
        "Koubbi, Hugo and Geshkovski, Borjan and Rigollet, Philippe",
        "Homogenized Transformers",
        "",
        2026,
        "2604.01978",
    ),
    "devlin2019bert": (
        "inproceedings",
        "Devlin, Jacob and Chang, Ming-Wei and Lee, Kenton and Toutanova, Kristina",
        "BERT: pre-training of deep bidirectional Transformers",
        "Proceedings of NAACL-HLT",
        2019,
        "1810.04805",
    ),
    "lan2020albert": (
        "inproceedings",
        "Lan, Zhenzhong and Chen, Mingda and Goodman, Sebastian and Gimpel, Kevin and "
        "Sharma, Piyush and Soricut, Radu",
        "ALBERT: a lite BERT for self-supervised learning",
        "International Conference on Learning Representations",
        2020,
        "1909.11942",
    ),
    "radford2019gpt2": (
        "misc",
        "Radford, Alec and Wu, Jeffrey and Child, Rewon and Luan, David and Amodei, "
        "Dario and Sutskever, Ilya",
        "Language models are unsupervised multitask learners",
        "",
        2019,
        "",
    ),
    "touvron2023llama": (
        "misc",
        "Touvron, Hugo and others",
        "LLaMA: open and efficient foundation language models",
        "",
        2023,
        "2302.13971",
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

    An object of a class of one's own cites what it inherits and what it holds: a field
    that wraps an `Attention` cites what attention cites.

    >>> print(cite(Attention(9.0)).splitlines()[0])
    @article{geshkovski2023perspective,
    """
    found: list[str] = []
    for obj in objects:
        named = obj if inspect.isclass(obj) or inspect.isroutine(obj) else type(obj)
        for one in [*(getattr(named, "__mro__", None) or [named]), *_parts(obj)]:
            found += _keys(one)
    return "\n\n".join(bibtex(key) for key in dict.fromkeys(found))


def _keys(named: Any) -> list[str]:
    """The papers that a class, and its module, name in their docstrings."""
    module = inspect.getmodule(named)
    text = (named.__doc__ or "") + (inspect.getdoc(module) or "")
    return [k for k in re.findall(r"[a-z]+20\d\d[a-z]+", text) if k in PAPERS]


def _parts(obj: object) -> list[type]:
    """The classes of the library inside an object: what a class of one's own uses."""
    fields = getattr(obj, "__dataclass_fields__", {})
    if inspect.isclass(obj) or not fields:
        return []
    values = [getattr(obj, name, None) for name in fields]
    inside = [value for value in values if hasattr(value, "__dataclass_fields__")]
    return [type(value) for value in inside] + [c for v in inside for c in _parts(v)]
