"""Feature tables as laboratories have them: understood and said, or refused by line."""

import numpy as np
import pytest

from pushforward.errors import InputError, StoreError
from pushforward.statistics.tables._rows import HalfMinimum
from pushforward.statistics.tables.table_files import read_table

HEADER = "Feature;m/z (Da);RT (min);class;S1;S2;S3"
ROWS = (
    "a;180,0634;2,31;lipid;10500;9800;12100,5",
    "b;255,2324;5,02;sugar;1,5;2,5;3,5",
    "c;301,1412;7,9;;400;500;600",
)


def read(tmp_path, header=HEADER, rows=ROWS, **options):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_table(path, **options)


def test_units_in_the_header_and_a_column_of_words(tmp_path):
    table = read(tmp_path)
    np.testing.assert_array_equal(table.mz, [180.0634, 255.2324, 301.1412])
    np.testing.assert_array_equal(table.rt, [2.31, 5.02, 7.9])
    assert table.samples == ("S1", "S2", "S3")
    assert "no samples, for they hold words: 'class'" in table.decisions
    with pytest.raises(InputError, match="line 2: column 'class' holds text, 'lipid'"):
        read(tmp_path, columns={"samples": "s"})


def test_names_of_compounds_are_no_numbers(tmp_path):
    table = read(tmp_path, rows=[row.replace("lipid", "1.2-diol") for row in ROWS])
    assert table.samples == ("S1", "S2", "S3")


def with_cell(row, column, cell):
    cells = ROWS[row].split(";")
    cells[column] = cell
    changed = list(ROWS)
    changed[row] = ";".join(cells)
    return changed


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS[:2], ROWS[2] + ";7"], "line 4: 8 cells where the header has 7"),
        ([ROWS[0], ROWS[1][:-4], ROWS[2]], "line 3: 6 cells where the header has 7"),
        (with_cell(2, 0, "a"), "'a' in line 2 and line 4"),
        (with_cell(1, 1, ""), "line 3: `mz` is not finite for 1 of 3"),
        (with_cell(1, 2, "NA"), "line 3: `rt` is not finite for 1 of 3"),
        (with_cell(1, 5, ""), "feature 'b' in line 3, sample 'S2'. Impute"),
        (with_cell(1, 5, "1.234,5"), "'.' in line 3 and with ',' in line 2"),
        (with_cell(2, 6, "1.200"), "'.' in line 4 and with ',' in line 2"),
        (with_cell(1, 5, "<LOD"), "line 3: column 'S2' holds text, '<LOD'.*empty"),
    ],
)
def test_a_bad_row_is_told_by_its_line(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, rows=rows)


def test_a_torn_row_is_not_imputed(tmp_path):
    with pytest.raises(InputError, match="line 4: 5 cells"):
        read(
            tmp_path, rows=[*ROWS[:2], "c;301,1412;7,9;;400"], imputation=HalfMinimum()
        )


def test_names_of_rows_without_a_name_of_their_own_are_refused(tmp_path):
    """As R writes them: the header is one cell shorter, and columns would shift."""
    rows = [f"{k};{row}" for k, row in enumerate(ROWS)]
    with pytest.raises(InputError, match="give that column a name in the header"):
        read(tmp_path, rows=rows)


def test_empty_cells_beyond_the_header_do_no_harm(tmp_path):
    assert read(tmp_path, rows=[row + ";;" for row in ROWS]).n == 3


def test_samples_of_one_name_are_told_apart(tmp_path):
    table = read(tmp_path, header=HEADER.replace("S3", "S1"))
    assert table.samples == ("S1", "S2", "S1 (2)")
    assert "samples of one name told apart by a number: 'S1'" in table.decisions


def test_a_sheet_of_several_is_named(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mz": [100.5, 200.5], "rt": [1.0, 2.0], "s1": [3.0, 4.0]})
    path = tmp_path / "b.xlsx"
    with pandas.ExcelWriter(path) as book:
        pandas.DataFrame().to_excel(book, sheet_name="empty", index=False)
        frame.to_excel(book, sheet_name="pos", index=False)
    assert read_table(path).p == 2  # the only one with something in it
    with pandas.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="pos", index=False)
        (2 * frame).to_excel(book, sheet_name="neg", index=False)
    with pytest.raises(InputError, match="2 sheets.*pos, neg.*b.xlsx#pos"):
        read_table(path)
    with pytest.raises(InputError, match="2 sheets"):
        read_table(tmp_path / "b.xlsx#zz")
    table = read_table(tmp_path / "b.xlsx#neg")
    np.testing.assert_array_equal(table.mz, [201, 401])
    assert table.name == "b.xlsx#neg"


def test_arrays_are_tables_if_their_columns_are_named(tmp_path):
    kinds = [("id", "U8"), ("mz", float), ("rt", float), ("s1", float), ("s2", float)]
    rows = [("a", 180.0634, 2.31, 0.1, 2.0), ("b", 255.2324, 5.02, 1e-17, 7.0)]
    np.save(tmp_path / "t.npy", np.array(rows, kinds))
    table = read_table(tmp_path / "t.npy")
    assert table.ids == ("a", "b")
    np.testing.assert_array_equal(table.intensities, [[0.1, 1e-17], [2.0, 7.0]])
    bare = np.array([[180.0634, 2.31, 0.1, 2.0], [255.2324, 5.02, 1e-17, 7.0]])
    np.save(tmp_path / "bare.npy", bare)
    with pytest.raises(InputError, match="--columns mz=1,rt=2"):
        read_table(tmp_path / "bare.npy")
    again = read_table(tmp_path / "bare.npy", columns={"mz": "1", "rt": "2"})
    np.testing.assert_array_equal(again.intensities, table.intensities)
    assert again.samples == ("3", "4")
    np.save(tmp_path / "deep.npy", np.ones((4, 5, 2)))
    with pytest.raises(InputError, match=r"must hold a table.*\(4, 5, 2\)"):
        read_table(tmp_path / "deep.npy")
    (tmp_path / "torn.npy").write_bytes(b"\x93NUMPY\x01")
    with pytest.raises(InputError, match="cannot read"):
        read_table(tmp_path / "torn.npy")
    with pytest.raises(StoreError, match="no such file"):
        read_table(tmp_path / "none.npy")
