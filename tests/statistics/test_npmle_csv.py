"""CSV files: every dialect read, every malformed file refused with its line."""

import json

import numpy as np
import pytest

from pushforward.errors import InputError, StoreError
from pushforward.statistics.mixtures import (
    GaussianErrors,
    Roles,
    npmle,
    npmle_from_csv,
    read_numbers,
    summary,
    write_atoms,
    write_posteriors,
)
from pushforward.statistics.tables.number_files import Missing


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1.5,2\n-3,4e1\n",
        "1.5,2\n-3,40\n",
        "x;y\n1,5;2\n-3;40\n",
        "x\ty\r\n1.5\t2\r\n-3\t40\r\n",
        "\ufeffx,y\n\n1.5, 2\n-3,40\n\n",
        '"x","y"\n"1.5","2"\n-3,40',
    ],
)
def test_dialects(tmp_path, text):
    table = read_numbers(write(tmp_path, text))
    np.testing.assert_array_equal(table.values, [[1.5, 2], [-3, 40]])


def test_columns_are_chosen_by_name(tmp_path):
    path = write(tmp_path, "name,v\na,1\nb,2\n")
    table = read_numbers(path, ("v",))
    np.testing.assert_array_equal(table.values[:, 0], [1, 2])
    with pytest.raises(InputError, match="it has"):
        read_numbers(path, ("w",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        (";;\n;\n", "empty cells only"),
        ("x,y\n", "no data"),
        ("x,y\n1,abc\n2,3\n", "line 2, column 'y'.*'abc'"),
        ("x,y\na,b\nc,d\n", "line 2, column 'x'.*'a'"),
        ("x,y\n1,2\n3,\n", "line 3.*empty cell"),
        ("x,y\n1,nan\n", "not finite"),
        ("x,y\n1,inf\n", "not finite"),
        ("x,y\n1,2\n3\n", "line 3: 1 cells"),
        ("x\n1\0\n", "binary"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_numbers(write(tmp_path, text))


def test_wrong_encoding_and_missing_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x\n\xff\xfe\n")
    with pytest.raises(InputError, match="line 2, column 'x'"):
        read_numbers(path)
    with pytest.raises(StoreError, match="cannot be read"):
        read_numbers(tmp_path / "missing.csv")
    with pytest.raises(StoreError, match="cannot be read"):
        read_numbers(tmp_path)


def test_fit_from_file_and_its_summary(tmp_path):
    path = write(tmp_path, "v\n-2\n2\n")
    fit, table = npmle_from_csv(path)
    told = json.loads(json.dumps(summary(fit, table)))
    assert told["n"] == 2
    assert told["loss"] == pytest.approx(1.6117494028535475, abs=1e-11)
    assert told["labels"] == [0, 1]


def test_mixed_decimal_marks_are_refused_with_both_lines(tmp_path):
    with pytest.raises(InputError, match="'.' in line 2 and with ',' in line 3"):
        read_numbers(write(tmp_path, "x;y\n1.5;2\n2,5;3\n"))


def test_units_are_part_of_a_name_or_not(tmp_path):
    path = write(tmp_path, "v (km/s);e [km/s]\n1,5;2\n3;4\n")
    table = read_numbers(path, ("v",))
    assert table.columns == ("v (km/s)",) and table.lines == (2, 3)
    assert table.decisions == ("delimiter ';'", "decimal comma")
    np.testing.assert_array_equal(read_numbers(path).column("e"), [2, 4])


def test_missing_rows_are_refused_dropped_or_kept(tmp_path):
    path = write(tmp_path, "x,y\n1,2\n,4\n5,NA\n7,8\n")
    with pytest.raises(InputError, match="line 3, column 'x'.*--drop-missing"):
        read_numbers(path)
    dropped = read_numbers(path, missing=Missing.DROP)
    np.testing.assert_array_equal(dropped.values, [[1, 2], [7, 8]])
    assert dropped.lines == (2, 5)
    assert "2 of 4 rows dropped for missing values, lines 3, 4" in dropped.decisions
    kept = read_numbers(path, missing=Missing.KEEP)
    assert np.isnan(kept.values).sum() == 2
    fit, _ = npmle_from_csv(path, missing=Missing.KEEP)
    assert "2 values missing" in fit.assumption and fit.gap < 1e-9


def test_a_text_is_not_a_missing_value(tmp_path):
    path = write(tmp_path, "x\n1\nhigh\n")
    with pytest.raises(InputError, match="line 3, column 'x': the text 'high'"):
        read_numbers(path, missing=Missing.DROP)


def test_arrays_and_sheets(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(3, 2))
    assert read_numbers(tmp_path / "a.npy").columns == ("1", "2")
    np.save(tmp_path / "b.npy", np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match=r"\(2, 2, 2\)"):
        read_numbers(tmp_path / "b.npy")
    for name in ("a.xlsx", "a.parquet"):
        (tmp_path / name).write_bytes(b"not a table")
        with pytest.raises(
            InputError, match="cannot be read as a table|pushforward.tab"
        ):
            read_numbers(tmp_path / name)


def test_columns_play_their_parts(tmp_path):
    rows = [(-2.0, 0.5, 1), (2.5, 1.5, 2), (0.3, 1.0, 1)]
    text = "v,se,w\n" + "\n".join(",".join(map(str, row)) for row in rows)
    path = write(tmp_path, text)
    fit, table = npmle_from_csv(path, roles=Roles(sigma="se", weights="w"))
    v, se, w = np.array(rows).T
    again = npmle(v, likelihood=GaussianErrors(se), weights=w)
    assert table.columns == ("v",) and fit.loss == again.loss
    _, suspicious = npmle_from_csv(path, roles=Roles(("v", "se")))
    assert "say --sigma se" in suspicious.decisions[0]
    poisson, _ = npmle_from_csv(path, roles=Roles(("w",), "poisson", exposure="se"))
    assert "Poisson" in poisson.assumption
    share, _ = npmle_from_csv(path, roles=Roles(("w",), "binomial", trials="2"))
    assert share.atoms.max() <= 1
    for roles, words in (
        ({"kind": "cauchy"}, "one of gaussian"),
        ({"sigma": "1", "variance": 1.0}, "say the same"),
        ({"trials": "3"}, "--likelihood binomial"),
        ({"kind": "binomial"}, "`trials` must be given"),
    ):
        with pytest.raises(InputError, match=words):
            Roles(**roles)
    with pytest.raises(InputError, match="not found in"):
        npmle_from_csv(path, roles=Roles(("v",), sigma="zz"))


def test_answers_as_files(tmp_path):
    path = write(tmp_path, "v\n-2\n\n2\n")
    fit, table = npmle_from_csv(path)
    write_atoms(fit, table, tmp_path / "atoms.csv")
    back = read_numbers(tmp_path / "atoms.csv")
    np.testing.assert_array_equal(back.column("v"), fit.atoms[:, 0])
    write_posteriors(fit, table, tmp_path / "post.csv")
    rows = read_numbers(tmp_path / "post.csv")
    np.testing.assert_array_equal(rows.column("line"), [2, 4])
    named = npmle_from_csv(write(tmp_path, "star,v\na,-2\nb,2\n"))
    write_posteriors(*named, tmp_path / "named.csv")
    assert read_numbers(tmp_path / "named.csv").names == ("a", "b")
    np.testing.assert_array_equal(rows.column("v_mean"), fit.posterior_means[:, 0])


def test_comments_and_spaces_before_and_between(tmp_path):
    path = write(tmp_path, "# telescope 3, 2026\n\nx;y\n1,5;2\n3;4\n")
    table = read_numbers(path)
    assert table.lines == (4, 5) and table.columns == ("x", "y")
    assert table.decisions[0] == "lines 1 to 2 before the table left out"
    np.testing.assert_array_equal(table.values, [[1.5, 2], [3, 4]])
    np.savetxt(path, table.values, header="x y")  # its header begins with #
    again = read_numbers(path)
    assert again.columns == ("x", "y") and "delimiter spaces" in again.decisions
    np.testing.assert_array_equal(again.values, table.values)
    np.savetxt(path, table.values, header="x,y", delimiter=",")
    assert read_numbers(path).columns == ("x", "y")
    np.savetxt(path, table.values, header="made by hand")
    assert read_numbers(path).columns == ("1", "2")


def test_names_of_rows_are_no_coordinate(tmp_path):
    """pandas and R write the index first, under an empty name."""
    table = read_numbers(write(tmp_path, ",x,y\n0,1,2\n1,4,5\n"))
    assert table.columns == ("x", "y") and "names of rows" in table.decisions[0]
    assert table.names == ()  # numbers of rows say nothing
    table = read_numbers(write(tmp_path, '"","x"\n"r1",1\n"r2",4\n'))
    np.testing.assert_array_equal(table.values, [[1], [4]])
    assert table.names == ("r1", "r2")
    table = read_numbers(write(tmp_path, "x,y,\n1,2,\n3,4,\n"))  # nothing under it
    assert table.columns == ("x", "y") and table.decisions == ()
    table = read_numbers(write(tmp_path, "x,y,\n1,2,\n3,4,note\n"))
    assert table.columns == ("x", "y") and "words left out: ''" in table.decisions[0]


def test_columns_of_words_are_left_out_and_name_the_rows(tmp_path):
    rows = "s1;lipid;1,5;a\ns2;lipid;2,5;\ns3;sugar;;b\n"
    path = write(tmp_path, "name;class;x;note\n" + rows)
    table = read_numbers(path, missing=Missing.DROP)
    assert table.columns == ("x",) and table.names == ("s1", "s2")
    assert "columns of words left out: 'name', 'class', 'note'" in table.decisions
    assert "rows are named by column 'name'" in table.decisions
    np.testing.assert_array_equal(table.values, [[1.5], [2.5]])
    assert read_numbers(path, ("x",), missing=Missing.KEEP).names == ("s1", "s2", "s3")
    bare = read_numbers(write(tmp_path, rows.replace(";;", ";3;")))
    assert bare.columns == ("3",) and len(bare.values) == 3
    assert "no header: columns are numbered from 1" in bare.decisions
    twice = read_numbers(write(tmp_path, "n,x\na,1\na,2\n"))
    assert twice.names == ()  # the words do not tell the rows apart


def test_columns_of_one_name_are_told_apart(tmp_path):
    path = write(tmp_path, "x (m),x (s),y,y\n1,2,3,4\n")
    table = read_numbers(path)
    assert table.columns == ("x (m)", "x (s)", "y", "y (2)")
    assert "columns of one name told apart by a number: 'y'" in table.decisions
    with pytest.raises(
        InputError, match=r"several columns 'x': say which of 'x \(m\)'"
    ):
        read_numbers(path, ("x",))


def test_a_number_that_is_a_column_is_ambiguous(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[0.0, 1.0], [3.0, 0.5]]))
    with pytest.raises(InputError, match="`sigma` 2 is a number.*column:2 or 2.0"):
        npmle_from_csv(tmp_path / "a.npy", roles=Roles(("1",), sigma="2"))
    fit, _ = npmle_from_csv(tmp_path / "a.npy", roles=Roles(("1",), sigma="column:2"))
    assert "sd 0.5 to 1" in fit.assumption
    fit, table = npmle_from_csv(tmp_path / "a.npy", roles=Roles(("1",), sigma="2.0"))
    assert "variance 4" in fit.assumption and table.columns == ("1",)


@pytest.mark.parametrize(
    ("text", "roles", "words"),
    [
        ("x,s\n1,1\n2,0\n", {"sigma": "s"}, "line 3, column 's' has 0"),
        ("x,s\n1,1\n2,NA\n", {"sigma": "s"}, "line 3, column 's' has nothing"),
        ("x,w\n1,-1\n2,1\n", {"weights": "w"}, "a weight is not negative"),
        (
            "k,h\n1,0\n",
            {"kind": "poisson", "exposure": "h"},
            "line 2, column 'h' has 0",
        ),
        ("k\n1\n2.5\n", {"kind": "poisson"}, "line 3, column 'k' has 2.5"),
        ("k\n1\nNA\n3\n", {"kind": "poisson"}, "line 3, column 'k' has nothing"),
        (
            "k,n\n1,5\n7,6\n",
            {"kind": "binomial", "trials": "n"},
            "line 3, column 'k' has 7, but there were 6 trials",
        ),
        ("k,n\n1,1.5\n", {"kind": "binomial", "trials": "n"}, "column 'n' has 1.5"),
    ],
)
def test_a_cell_that_cannot_play_its_part_is_told_by_its_line(
    tmp_path, text, roles, words
):
    with pytest.raises(InputError, match=words):
        npmle_from_csv(
            write(tmp_path, text), roles=Roles(**roles), missing=Missing.KEEP
        )


def test_fields_of_an_array_have_names(tmp_path):
    rows = np.array([(0.1, 1.0), (2.0, 0.5)], [("v", float), ("sd", float)])
    np.save(tmp_path / "a.npy", rows)
    table = read_numbers(tmp_path / "a.npy")
    assert table.columns == ("v", "sd")
    np.testing.assert_array_equal(table.column("v"), rows["v"])
