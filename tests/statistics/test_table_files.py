"""Every table dialect read, every malformed file refused with the fix."""

import os

import numpy as np
import pytest

from pushforward.errors import InputError, StoreError
from pushforward.statistics.matching.matching import match
from pushforward.statistics.tables._rows import HalfMinimum
from pushforward.statistics.tables.match_files import (
    read_truth,
    write_candidates,
    write_matches,
)
from pushforward.statistics.tables.table_files import read_table
from pushforward.statistics.tables.table_layouts import parse_columns
from pushforward.statistics.tables.tables import FeatureTable
from pushforward.studies.metabolomics.paired_tables import (
    MEDIUM,
    simulate_cohort,
    split_cohort,
)

MZ = [180.0634, 255.2324, 301.1412]
RT = [2.31, 5.02, 7.9]
AREAS = [[10500.0, 9800.0, 12100.5], [1.5, 2.5, 3.5], [400.0, 500.0, 600.0]]


def lines(rows, delimiter=","):
    return "\n".join(delimiter.join(str(c) for c in row) for row in rows) + "\n"


def features(before=("id", "mz", "rt"), scale=1.0, extra=()):
    """Feature rows with the fixed columns in the order asked for."""
    values = [
        {"id": f"F{i}", "mz": m, "rt": round(t * scale, 6)}
        for i, (m, t) in enumerate(zip(MZ, RT, strict=True))
    ]
    return [
        [v[k] for k in before] + list(extra) + areas
        for v, areas in zip(values, AREAS, strict=True)
    ]


def mzmine2():
    header = ["row ID", "row m/z", "row retention time"]
    header += [f"s{k}.mzML Peak area" for k in range(3)]
    return lines([header, *features()])


def mzmine3():
    header = ["id", "mz", "rt", "charge"]
    header += [f"datafile:s{k}.mzML:area" for k in range(3)]
    header += [f"datafile:s{k}.mzML:height" for k in range(3)]
    rows = [[*r[:3], 1, *r[3:], 7, 7, 7] for r in features()]
    return lines([header, *rows])


def msdial():
    blank = [""] * 3
    top = [
        [*blank, "Class", "case", "case", "control", "NA", "NA"],
        [*blank, "File type", "Sample", "Sample", "Sample", "NA", "NA"],
        [*blank, "Injection order", 1, 2, 3, "NA", "NA"],
        [*blank, "Batch ID", 1, 1, 1, "Average", "Stdev"],
    ]
    header = ["Alignment ID", "Average Rt(min)", "Average Mz", "Metabolite name"]
    header += ["s0", "s1", "s2", "case", "case"]
    rows = [[*r[:3], "Unknown", *r[3:], 1.0, 0.1] for r in features(("id", "rt", "mz"))]
    return lines([*top, header, *rows], "\t")


def progenesis():
    header = ["Compound", "Neutral mass (Da)", "m/z", "Charge", "Retention time (min)"]
    header += ["s0", "s1", "s2", "s0", "s1", "s2"]
    top = [*[""] * 5, "Normalised abundance", "", "", "Raw abundance", "", ""]
    second = [*[""] * 5, "case", "", "", "case", "", ""]
    rows = [[r[0], "", r[1], 1, r[2], *r[3:], 9, 9, 9] for r in features()]
    return lines([top, second, header, *rows])


def xcms():
    header = ["", "mzmed", "mzmin", "mzmax", "rtmed", "rtmin", "rtmax", "npeaks", "KO"]
    header += [f"s{k}.mzML" for k in range(3)]
    rows = [[r[0], r[1], 1, 2, r[2], 3, 4, 5, 6, *r[3:]] for r in features(scale=60.0)]
    return lines([header, *rows])


def mztab():
    header = ["SFH", "SMF_ID", "SME_ID_REFS", "exp_mass_to_charge", "charge"]
    header += ["retention_time_in_seconds"]
    header += [f"abundance_assay[{k}]" for k in (1, 2, 3)]
    rows = [["SMF", r[0], "null", r[1], 1, r[2], *r[3:]] for r in features(scale=60.0)]
    meta = [["MTD", "mzTab-version", "2.0.0-M"], ["MTD", "mzTab-ID", "x"]] * 9
    return lines([*meta, header, *rows], "\t")


def metabcombiner():
    header = ["id", "mz", "rt", "adduct", "s0", "s1", "s2"]
    return lines([header, *[[*r[:3], "[M+H]+", *r[3:]] for r in features()]])


def transposed():
    columns = [["", "m/z", "RT", "s0", "s1", "s2"], *features()]
    return lines(list(zip(*columns, strict=True)))


def semicolons():
    return metabcombiner().replace(",", ";").replace(".", ",")


def plain():
    header = ["Feature", "m/z", "RT [min]", "s0", "s1", "s2"]
    return lines([header, *features()], "\t")


DIALECTS = {
    "MZmine 2": mzmine2,
    "MZmine 3/4": mzmine3,
    "MS-DIAL": msdial,
    "Progenesis QI": progenesis,
    "XCMS": xcms,
    "mzTab-M": mztab,
    "metabCombiner": metabcombiner,
    "GromovMatcher (transposed)": transposed,
    "metabCombiner, delimiter ';', decimal comma": semicolons,
    "plain table": plain,
}


def read(tmp_path, text, columns=None, name="table.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_table(path, columns=columns)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialect_is_read_and_named(dialect, tmp_path):
    table = read(tmp_path, DIALECTS[dialect]())
    assert dialect.split(",")[0] in table.decisions[0]
    assert all(part in table.decisions[0] for part in dialect.split(", ")[1:])
    assert table.ids == ("F0", "F1", "F2")
    np.testing.assert_allclose(table.mz, MZ)
    np.testing.assert_allclose(table.rt, RT)
    np.testing.assert_allclose(table.intensities, np.transpose(AREAS))
    assert any("3 sample columns" in line for line in table.decisions)


def test_m2s_has_no_header_and_one_intensity(tmp_path):
    rows = [[t, m, a[0]] for t, m, a in zip(RT, MZ, AREAS, strict=True)]
    table = read(tmp_path, lines(rows))
    assert "M2S" in table.decisions[0] and table.n == 1
    np.testing.assert_allclose(table.mz, MZ)
    np.testing.assert_allclose(table.rt, RT)
    assert table.ids == ("table-1", "table-2", "table-3")
    with pytest.raises(InputError, match="no known dialect"):
        read(tmp_path, lines([[r[1], r[0], r[2]] for r in rows]))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(metabcombiner().replace("s0", "é").encode(encoding))
    assert "'é'" in read_table(path).decisions[3]


def test_progenesis_takes_the_normalized_block_and_says_so(tmp_path):
    table = read(tmp_path, progenesis())
    assert "Normalised abundance" in table.decisions[3]
    text = progenesis().replace("Normalised abundance", "Other block")
    np.testing.assert_array_equal(read(tmp_path, text).intensities, 9.0)


def test_a_unit_free_median_above_sixty_is_seconds_and_said(tmp_path):
    header = ["id", "mz", "rt", "s0", "s1", "s2"]
    table = read(tmp_path, lines([header, *features(scale=60.0)]))
    np.testing.assert_allclose(table.rt, RT)
    assert "seconds" in table.decisions[2]


def test_columns_override_names_unit_and_samples(tmp_path):
    header = ["code", "Mass A", "Elution", "note", "x area", "y area", "z area"]
    rows = [[*r[:3], "text", *r[3:]] for r in features(scale=60.0)]
    text = lines([header, *rows])
    with pytest.raises(InputError, match="no known dialect"):
        read(tmp_path, text)
    columns = parse_columns("id=code,mz=Mass A,rt=Elution,samples=area,unit=s")
    table = read(tmp_path, text, columns)
    np.testing.assert_allclose(table.rt, RT)
    assert table.ids == ("F0", "F1", "F2") and table.n == 3
    forced = read(tmp_path, mzmine2(), {"rt": "row m/z", "unit": "s"})
    np.testing.assert_allclose(forced.rt * 60, MZ)


def without_numbers(text):
    return text.replace("9800.0", "high")


BAD = {
    "wrong dialect": ("a,b,c\n1,x,2\n3,y,4\n", "no known dialect"),
    "not a table": ("hello world\nthis is prose\nof no width\n", "is not a table"),
    "two masses": (
        lines([["id", "mz", "m/z", "rt time", "s"], ["a", 1, 2, 3, 4]]),
        "ambiguous",
    ),
    "seconds for minutes": (
        mzmine2().replace("2.31", "131").replace("5.02", "301").replace("7.9", "474"),
        "looks like seconds",
    ),
    "minutes for seconds": (
        xcms().replace("138.6", "2.3").replace("301.2", "5.0").replace("474.0", "7"),
        "looks like minutes",
    ),
    "duplicated ids": (mzmine2().replace("F2", "F0"), "duplicated ids.*'F0'"),
    "a column of text": (
        without_numbers(mzmine2()),
        r"line 2: column 's1.mzML Peak area' holds text, 'high'",
    ),
    "text masses": (mzmine2().replace("255.2324", "n.d."), "'row m/z' holds text"),
    "NaN intensities": (
        mzmine2().replace("9800.0", "NaN").replace("2.5", ""),
        "2 missing .NaN. intensities in 2 of 3 features, the first for feature 'F0'",
    ),
    "NaN masses": (mzmine2().replace("255.2324", ""), "`mz` .* not finite for 1 of 3"),
    "empty table": (mzmine2().splitlines()[0] + "\n", "empty table"),
    "empty file": ("", "empty table: the file has no text"),
    "no intensities": ("id,mz,rt\na,100,2\nb,200,3\n", "no intensity columns"),
    "negative mass": (mzmine2().replace("255.2324", "-255"), "masses are positive"),
    "both decimal marks": (
        semicolons().replace("255,2324", "255.2324"),
        "'.' in line 3 and with ',' in line 2",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_malformed_table_is_refused_with_a_clear_message(kind, tmp_path):
    text, message = BAD[kind]
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    assert "table.csv" in str(caught.value)


def test_refusal_shows_a_two_line_example(tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, BAD["wrong dialect"][0])
    example = str(caught.value).splitlines()[-2:]
    text = "\n".join(line.strip() for line in example)
    assert read(tmp_path, text).p == 1  # the example itself reads


def test_workbooks_and_binaries_and_missing_files(tmp_path):
    (tmp_path / "a.xls").write_bytes(b"PK\x03\x04rest")
    (tmp_path / "b.bin").write_bytes(b"id,mz\x00,rt\n1,2,3\n")
    with pytest.raises(InputError, match="workbook"):
        read_table(tmp_path / "a.xls")
    with pytest.raises(InputError, match="binary"):
        read_table(tmp_path / "b.bin")
    with pytest.raises(StoreError, match="cannot be read"):
        read_table(tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"mass": "mz"}, "unknown keys"),
        ({"unit": "hours"}, "'min' or 's'"),
        ({"mz": "nothing", "rt": "rt"}, "no header row with the columns"),
        ({"samples": "zzz"}, "no intensity columns"),
    ],
)
def test_bad_overrides_are_refused(columns, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, metabcombiner(), columns)
    with pytest.raises(InputError, match="Example"):
        parse_columns("mz")


def test_random_mutations_of_a_file_only_raise_our_errors(tmp_path):
    rng = np.random.default_rng(0)
    sources = [make().encode() for make in DIALECTS.values()]
    path = tmp_path / "mutated.csv"
    for trial in range(400):
        raw = bytearray(sources[trial % len(sources)])
        for _ in range(rng.integers(1, 12)):
            raw[rng.integers(len(raw))] = rng.integers(256)
        path.write_bytes(bytes(raw[: rng.integers(1, len(raw) + 1)]))
        try:
            table = read_table(path)
        except (InputError, StoreError):
            continue
        assert np.isfinite(table.intensities).all() and table.p > 0


def test_log_of_areas_and_refusal_of_logs_of_logs():
    table = FeatureTable(("a",), np.ones(1), np.ones(1), np.array([[0.0], [9.0]]))
    np.testing.assert_allclose(table.logarithm().intensities[:, 0], [0, np.log(10)])
    negative = FeatureTable(("a",), np.ones(1), np.ones(1), np.array([[-1.0]]))
    with pytest.raises(InputError, match="already transformed"):
        negative.logarithm()


@pytest.fixture(scope="module")
def found():
    pair = split_cohort(simulate_cohort(80, 60, seed=1), 0.6, MEDIUM, seed=2)
    return match(pair.A, pair.B), pair.truth


def test_match_table_round_trips_and_is_atomic(found, tmp_path):
    matching, _ = found
    path = tmp_path / "matches.csv"
    write_matches(matching, path)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0][:2] == ["id_A", "id_B"] and rows[0][-2:] == ["score", "reason"]
    assert len(rows) == 1 + len(matching.matches)
    ids = {(matching.A.ids[i], matching.B.ids[j]) for i, j in matching.matches}
    assert {(r[0], r[1]) for r in rows[1:]} == ids
    assert os.listdir(tmp_path) == ["matches.csv"]  # no temporary left
    write_candidates(matching, tmp_path / "all.csv")
    text = (tmp_path / "all.csv").read_text()
    assert len(text.splitlines()) == 1 + matching.pairs.count
    with pytest.raises(StoreError, match="could not write"):
        write_matches(matching, tmp_path / "no" / "matches.csv")


def test_formula_ids_are_made_inert(tmp_path):
    ids = ("=1+1", "b", "c", "d")
    X = np.random.default_rng(3).normal(size=(9, 4))
    mz = np.array([100.0, 200, 300, 400])
    table = FeatureTable(ids, mz, np.arange(4.0), X)
    write_matches(match(table, table), tmp_path / "m.csv")
    assert "\n'=1+1,'=1+1," in (tmp_path / "m.csv").read_text()


def test_truth_is_read_by_ids(found, tmp_path):
    matching, truth = found
    path = tmp_path / "truth.csv"
    rows = [(matching.A.ids[i], matching.B.ids[j]) for i, j in truth]
    path.write_text(lines([("A", "B"), *rows]))
    np.testing.assert_array_equal(read_truth(path, matching.A, matching.B), truth)
    path.write_text(lines([*rows, ("nobody", rows[0][1])]))
    with pytest.raises(InputError, match="'nobody' is not an id"):
        read_truth(path, matching.A, matching.B)
    path.write_text("one\n")
    with pytest.raises(InputError, match="two columns"):
        read_truth(path, matching.A, matching.B)


@pytest.mark.parametrize(
    ("suffix", "library"), [("xlsx", "openpyxl"), ("parquet", "pyarrow")]
)
def test_sheets_read_as_text_does(tmp_path, suffix, library):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip(library)
    frame = pandas.DataFrame(
        {"id": ["a", "b"], "mz": [180.06, 255.2], "rt": [2.3, 5.0], "s1": [1.5, 2.0]}
    )
    path = tmp_path / f"a.{suffix}"
    frame.to_excel(path, index=False) if suffix == "xlsx" else frame.to_parquet(path)
    table = read_table(path)
    assert table.ids == ("a", "b")
    np.testing.assert_array_equal(table.mz, [180.06, 255.2])
    np.testing.assert_array_equal(table.intensities, [[1.5, 2.0]])


def test_missing_intensities_are_half_the_minimum(tmp_path):
    text = "id,mz,rt,s1,s2,s3\na,180,2,4,,8\nb,200,3,,,\nc,220,4,1,2,3\n"
    with pytest.raises(InputError, match="--impute"):
        read(tmp_path, text)
    (tmp_path / "m.csv").write_text(text)
    table = read_table(tmp_path / "m.csv", imputation=HalfMinimum())
    assert table.ids == ("a", "c")
    np.testing.assert_array_equal(table.intensities, [[4, 1], [2, 2], [8, 3]])
    assert "1 missing intensities are half their minimum, 1 features" in str(
        table.decisions
    )


def test_names_of_mzmine_in_any_table(tmp_path):
    table = read(tmp_path, "row m/z,row retention time,s1,s2\n180,2,1,2\n")
    assert table.p == 1 and table.n == 2
