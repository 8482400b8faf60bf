"""Blanks and quality controls are no samples; they may drop features."""

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.statistics import SampleRoles, read_table

NAMES = ("Blank_01", "QC1.mzML", "PooledQC-2", "S1", "case poolside", "control 3")
ROWS = """A,100.1,1.0,0,10,10,9,11,10
B,200.2,2.0,8,10,10,9,11,10
C,300.3,3.0,0,2,18,9,11,10
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(f"id,mz,rt,{','.join(NAMES)}\n{ROWS}")
    return file


def test_usual_words_are_recognized_and_said(path):
    table = read_table(path)
    assert table.samples == ("S1", "case poolside", "control 3")
    np.testing.assert_array_equal(table.intensities[:, 0], [9, 11, 10])
    said = " ".join(table.decisions)
    assert "blanks left out (1): Blank_01" in said
    assert "quality controls left out (2): QC1.mzML, PooledQC-2" in said


def test_names_can_be_said_and_all_can_be_kept(path):
    assert read_table(path, roles=SampleRoles("keep", "keep")).samples == NAMES
    chosen = read_table(path, roles=SampleRoles(blanks="s1", controls="CONTROL"))
    assert chosen.samples == ("Blank_01", "QC1.mzML", "PooledQC-2", "case poolside")


def test_features_go_that_blanks_show_or_controls_do_not_repeat(path):
    assert read_table(path, roles=SampleRoles(blank_ratio=3.0)).ids == ("A", "C")
    # the controls of C are 2 and 18: a standard deviation of 11.3 around 10
    assert read_table(path, roles=SampleRoles(control_spread=1.14)).ids == (
        "A",
        "B",
        "C",
    )
    both = read_table(path, roles=SampleRoles(blank_ratio=3.0, control_spread=1.12))
    assert both.ids == ("A",) and both.mz.tolist() == [100.1]
    assert "1 features dropped, too spread over the controls" in both.decisions


def test_the_file_types_of_msdial_count(tmp_path):
    rows = [
        ["", "", "", "File type", "Sample", "QC", "Blank", "Sample"],
        ["", "", "", "Injection order", 1, 2, 3, 4],
        ["Alignment ID", "Average Rt(min)", "Average Mz", "Name", "a", "b", "c", "d"],
        [1, 2.0, 180.1, "x", 5, 6, 7, 8],
    ]
    (tmp_path / "m.txt").write_text("\n".join("\t".join(map(str, r)) for r in rows))
    assert read_table(tmp_path / "m.txt").samples == ("a", "d")


def test_a_table_of_controls_only_keeps_them(tmp_path):
    (tmp_path / "t.csv").write_text("id,mz,rt,QC1,QC2\nA,100.1,1,2,3\n")
    table = read_table(tmp_path / "t.csv")
    assert table.n == 2 and "kept as samples" in table.decisions[-1]


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"blanks": "zz"}, "text in the names of some samples"),
        ({"blanks": "keep", "blank_ratio": 3.0}, "has no blanks"),
        ({"controls": "keep", "control_spread": 0.3}, "has no quality controls"),
        ({"blanks": "QC", "blank_ratio": 100.0}, "drop every feature"),
        ({"blank_ratio": -1.0}, "`blank_ratio` must be positive"),
    ],
)
def test_what_cannot_be_decided_is_refused(path, roles, message):
    with pytest.raises(InputError, match=message):
        read_table(path, roles=SampleRoles(**roles))
