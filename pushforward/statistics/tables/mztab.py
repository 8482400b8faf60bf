"""Matched features as mzTab-M 2.0, the community's format for metabolomics results.

One small-molecule feature per group: the mean m/z, the retention time of the first
table that has it, and the abundances of every sample; nothing is identified.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import pushforward
from pushforward._checks import as_path
from pushforward.errors import InputError
from pushforward.statistics.tables.match_files import (
    Matched,
    table_labels,
    write_text,
)

POLARITIES = {
    "positive": "[MS, MS:1000130, positive scan, ]",
    "negative": "[MS, MS:1000129, negative scan, ]",
}
PROGRAM = f"pushforward {pushforward.__version__}"
AREA = "[MS, MS:1001844, MS1 feature area, ]"
VOCABULARY = {
    "cv[1]-label": "MS",
    "cv[1]-full_name": "PSI-MS controlled vocabulary",
    "cv[1]-version": "4.1.155",
    "cv[1]-uri": "http://purl.obolibrary.org/obo/ms/psi-ms.obo",
    "database[1]": '[, , "no database", null]',
    "database[1]-prefix": "null",
    "database[1]-version": "Unknown",
    "database[1]-uri": "null",
    "small_molecule-quantification_unit": AREA,
    "small_molecule_feature-quantification_unit": AREA,
    "small_molecule-identification_reliability": (
        "[MS, MS:1002896, compound identification confidence level, ]"
    ),
    "id_confidence_measure[1]": "[, , no identification, ]",
}
UNKNOWN = ["null"] * 10  # what is not identified: database to adducts, confidence
SML = (
    "SML_ID SMF_ID_REFS database_identifier chemical_formula smiles inchi "
    "chemical_name uri theoretical_neutral_mass adduct_ions reliability "
    "best_id_confidence_measure best_id_confidence_value"
).split()
SMF = (
    "SMF_ID SME_ID_REFS SME_ID_REF_ambiguity_code adduct_ion isotopomer "
    "exp_mass_to_charge charge retention_time_in_seconds "
    "retention_time_in_seconds_start retention_time_in_seconds_end"
).split()


def write_mztab(found: Matched, path: str | Path, *, polarity: str) -> None:
    """The groups of a matching as mzTab-M; `polarity` is positive or negative.

    The format asks for the polarity and a charge; charges are taken to be one, which a
    comment in the file says.
    """
    if polarity not in POLARITIES:
        raise InputError(
            f"`polarity` must be positive or negative, got {polarity!r}. mzTab-M asks "
            "for the polarity of the scans."
        )
    path = as_path("path", path)
    lines = [
        *_metadata(found, path.stem, polarity),
        [],
        *_summary(found),
        [],
        *_features(found),
    ]
    write_text(path, ["\t".join(map(_cell, line)) + "\n" for line in lines])


def _metadata(found: Matched, name: str, polarity: str) -> Iterator[list[object]]:
    labels = table_labels(found.tables)
    yield ["COM", "Charges are taken to be one: feature tables do not tell them."]
    facts: dict[str, object] = {
        "mzTab-version": "2.0.0-M",
        "mzTab-ID": name,
        "title": f"Features of {', '.join(t.name for t in found.tables)}, matched",
        "software[1]": (f"[MS, MS:1001456, analysis software, {PROGRAM}]"),
        "quantification_method": (
            "[MS, MS:1002019, label-free raw feature quantitation, ]"
        ),
    }
    number = 0
    for k, (table, label) in enumerate(zip(found.tables, labels, strict=True), 1):
        first = number + 1
        for sample in table.sample_names():
            number += 1
            run = f"ms_run[{number}]"
            facts[f"{run}-location"] = "null"
            facts[f"{run}-scan_polarity[1]"] = POLARITIES[polarity]
            facts[f"assay[{number}]"] = f"{label} {sample}"
            facts[f"assay[{number}]-ms_run_ref"] = run
        study = f"study_variable[{k}]"
        own = "| ".join(f"assay[{i}]" for i in range(first, number + 1))
        facts[study] = label
        facts[f"{study}-assay_refs"] = own
        facts[f"{study}-description"] = f"The samples of {table.name}"
    facts |= VOCABULARY
    yield from (["MTD", key, value] for key, value in facts.items())


def _summary(found: Matched) -> Iterator[list[object]]:
    tables, measured = found.tables, [t.measured() for t in found.tables]
    count = sum(t.n for t in tables)
    parts = range(1, len(tables) + 1)
    yield [
        "SMH",
        *SML,
        *(f"abundance_assay[{i}]" for i in range(1, count + 1)),
        *(f"abundance_study_variable[{k}]" for k in parts),
        *(f"abundance_variation_study_variable[{k}]" for k in parts),
    ]
    for number, group in enumerate(found.groups, 1):
        seen = [
            x[:, j] if j >= 0 else np.full(len(x), np.nan)
            for x, j in zip(measured, group, strict=True)
        ]
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # of samples without any
            means = [float(np.nanmean(x)) for x in seen]
            spread = [float(np.nanstd(x) / m) for x, m in zip(seen, means, strict=True)]
        # level 4 of the reliability: an unknown compound
        yield ["SML", number, number, *UNKNOWN[:8], 4, "null", "null",
               *np.concatenate(seen), *means, *spread]  # fmt: skip


def _features(found: Matched) -> Iterator[list[object]]:
    labels = table_labels(found.tables)
    count = sum(t.n for t in found.tables)
    own = [f"opt_global_id_{x}".replace(" ", "_") for x in labels]
    yield [
        "SFH",
        *SMF,
        *(f"abundance_assay[{i}]" for i in range(1, count + 1)),
        *own,
    ]
    measured = [t.measured() for t in found.tables]
    for number, group in enumerate(found.groups, 1):
        there = list(zip(found.tables, group, strict=True))
        has = [(t, j) for t, j in there if j >= 0]
        mz = float(np.mean([t.mz[j] for t, j in has]))
        seconds = float(has[0][0].rt[has[0][1]] * 60)
        values: list[object] = []
        for x, j in zip(measured, group, strict=True):
            values += list(x[:, j]) if j >= 0 else ["null"] * len(x)
        ids = [t.ids[j] if j >= 0 else "null" for t, j in there]
        yield ["SMF", number, "null", "null", "null", "null", f"{mz:.6f}", 1,
               f"{seconds:.3f}", "null", "null", *values, *ids]  # fmt: skip


def _cell(value: object) -> str:
    """Text without tabs; a number that is none is null."""
    if isinstance(value, float | np.floating):
        return repr(float(value)) if np.isfinite(value) else "null"
    return str(value).replace("\t", " ").replace("\n", " ") or "null"
