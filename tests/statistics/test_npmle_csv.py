"""CSV files: every dialect read, every malformed file refused with its line."""

import json

import numpy as np
import pytest

from pushforward.errors import InputError, StoreError
from pushforward.statistics.mixtures import npmle_from_csv, read_numbers, summary


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
        ("x,y\n1,abc\n", "line 2, column 'y'.*'abc'"),
        ("x,y\n1,2\n3,\n", "line 3.*empty cell"),
        ("x,y\n1,nan\n", "not finite"),
        ("x,y\n1,inf\n", "not finite"),
        ("x,y\n1,2\n3\n", "line 3: 1 cells"),
        ("x,x\n1,2\n", "two columns of one name"),
        ("x\n1\0\n", "binary"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_numbers(write(tmp_path, text))


def test_wrong_encoding_and_missing_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"x\n\xff\xfe\n")
    with pytest.raises(InputError, match="UTF-8"):
        read_numbers(path)
    with pytest.raises(StoreError, match="cannot read"):
        read_numbers(tmp_path / "missing.csv")
    with pytest.raises(StoreError, match="cannot read"):
        read_numbers(tmp_path)


def test_fit_from_file_and_its_summary(tmp_path):
    path = write(tmp_path, "v\n-2\n2\n")
    fit, table = npmle_from_csv(path)
    told = json.loads(json.dumps(summary(fit, table)))
    assert told["n"] == 2
    assert told["loss"] == pytest.approx(1.6117494028535475, abs=1e-11)
    assert told["labels"] == [0, 1]
