"""`npmle`, `gulp` and `match` on bad files: exit code 3, a sentence, no file."""

import json
import sys

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.cli import _gulp, main

GOOD = """row ID,row m/z,row retention time,s0 Peak area,s1 Peak area,s2 Peak area
F0,180.0634,2.31,10500.0,9800.0,12100.5
F1,255.2324,5.02,1.5,2.5,3.5
F2,301.1412,7.9,400.0,500.0,600.0
"""
SECONDS = GOOD.replace("2.31", "131").replace("5.02", "301").replace("7.9", "474")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a line in a fresh folder: (code, stderr, files that came or changed)."""
    monkeypatch.chdir(tmp_path)
    cache = tmp_path.parent / f"{tmp_path.name}-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    def files():
        found = (p for p in tmp_path.rglob("*") if p.is_file())
        return {(p.name, p.stat().st_mtime_ns) for p in found}

    def call(line):
        before = files()
        monkeypatch.setattr(sys, "argv", ["pushforward", *line.split()])
        with pytest.raises(SystemExit) as stop:
            main()
        new = sorted(name for name, _ in files() - before)
        return int(stop.value.code or 0), capsys.readouterr().err, new

    (tmp_path / "good.csv").write_text(GOOD)
    np.save("a.npy", np.random.default_rng(0).normal(size=(30, 4)))
    return call


@pytest.mark.parametrize(
    ("command", "text", "words"),
    [
        ("match", "a,b,c\n1,x,2\n3,y,4\n", "no known dialect"),
        ("match", SECONDS, "looks like seconds"),
        ("match", GOOD.replace("F2", "F0"), "duplicated ids"),
        ("match", GOOD.replace("9800.0", "high"), "holds text, 'high'"),
        ("match", GOOD.replace("9800.0", "NaN"), "missing (NaN) intensities"),
        ("match", GOOD.splitlines()[0] + "\n", "empty table"),
        ("match", "", "empty table"),
        ("npmle", "x,y\na,b\nc,d\n", "line 2, column 'x': the text 'a'"),
        ("npmle", "x\n1\nhigh\n", "line 3, column 'x': the text 'high'"),
        ("npmle", "x\n1\nNaN\n", "not finite"),
        ("npmle", "x\n", "no data"),
        ("npmle", "", "empty"),
        ("gulp", GOOD.replace("1.5", "low"), "cannot be read as an array of numbers"),
        ("gulp", "1,2\n3,nan\n", "line 2, column '2': 'nan' is not finite. Leave a"),
        ("gulp", "a;b\n1,5;2\n;3\n", "line 3, column 'a': an empty cell"),
        ("gulp", "1,2\n3,4\n", "must share their samples, got [2, 30] rows"),
        ("gulp", "", "empty table"),
    ],
)
def test_malformed_file(run, tmp_path, command, text, words):
    (tmp_path / "bad.csv").write_text(text)
    line = {
        "match": "match good.csv bad.csv --out m.csv --report r.html",
        "npmle": "npmle bad.csv --json",
        "gulp": "gulp a.npy a.npy bad.csv --picture p.png",
    }[command]
    code, err, new = run(line)
    assert code == 3
    assert words in err and "Traceback" not in err
    assert new == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([["a", "b"]]), "matrix of numbers"),
        (np.zeros((0, 4)), "non-empty"),
        (np.ones((30, 2)) * 1j, "complex"),
        (np.ones((30, 2)), "constant"),
        (np.zeros(30), "value[:, None]"),
    ],
)
def test_malformed_array(run, values, words):
    np.save("bad.npy", values)
    code, err, new = run("gulp a.npy a.npy bad.npy --picture p.png")
    assert code == 3 and words in err and new == []


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("match good.csv good.csv --truth t.csv", 3, "names no pair"),
        ("match good.csv good.csv --threshold nan", 3, "threshold"),
        ("match good.csv good.csv --columns zz", 3, "'zz' is not one of"),
        ("match good.csv good.csv --report nowhere/r.html", 6, "does not exist"),
        ("match good.csv good.csv --out nowhere/m.csv", 6, "does not exist"),
        ("gulp a.npy a.npy --picture p.png", 3, "at least three files"),
        ("gulp a.npy a.npy --lambda x", 3, "must be numbers, got 'x'"),
        ("npmle good.csv --columns w", 3, "not found in good.csv"),
    ],
)
def test_bad_options_write_nothing(run, tmp_path, line, code, words):
    (tmp_path / "t.csv").write_text("id_A,id_B\n")
    found, err, new = run(line)
    assert found == code and words in err and new == []


def test_good_files_are_written(run):
    code, _, new = run("match good.csv good.csv --out m.csv")
    assert code == 0 and new == ["m.csv"]


def test_messy_tables_are_understood_and_said(run, tmp_path):
    """Missing intensities, MZmine's names without an id, and a list of some pairs."""
    messy = GOOD.replace("9800.0", "").replace("row ID,", "id,")
    (tmp_path / "messy.csv").write_text(messy)
    code, err, new = run("match good.csv messy.csv --out m.csv")
    assert code == 3 and "--impute" in err and new == []
    (tmp_path / "t.csv").write_text("id_A,id_B\nF0,F0\n")
    line = "match good.csv messy.csv --out m.csv --impute --truth t.csv --gate 15ppm"
    code, err, new = run(f"{line} --merged all.csv --candidates c.csv --report r.html")
    assert code == 0 and new == ["all.csv", "c.csv", "m.csv", "r.html"]
    assert "1 missing intensities are half their minimum" in err
    page = (tmp_path / "r.html").read_text()
    assert "precision is not known" in page and "Doubtful matches" in page
    merged = (tmp_path / "all.csv").read_text().splitlines()
    assert merged[0].startswith("id_A,id_B,mz,rt_A,rt_B,A_s0 Peak area")
    assert merged[1].split(",")[-2] == ""  # what was filled in was not measured
    code, err, new = run(
        "match good.csv messy.csv --out l.csv --impute --log --merged l"
    )
    assert code == 0 and "log(1 + x)" not in err
    assert (tmp_path / "l").read_text() == (tmp_path / "all.csv").read_text()


def test_blanks_of_one_table_are_enough(run, tmp_path):
    blanks = ("Blank_1 Peak area", "5", "3.5", "7")
    lines = GOOD.splitlines()
    text = "\n".join(f"{a},{b}" for a, b in zip(lines, blanks, strict=True))
    (tmp_path / "blank.csv").write_text(text)
    line = "match good.csv blank.csv --out m.csv --blank-ratio 3"
    code, err, new = run(f"{line} --control-spread 0.3")
    assert code == 3 and "needs two" in err and new == []
    code, err, new = run(line)
    assert code == 0 and "good.csv: too few blanks (0): none dropped by them" in err
    assert "blank.csv: 1 features dropped, below 3.0 times the blanks" in err
    assert run(f"{line} --blanks Blank_1")[0] == 0


def test_partial_truth_has_no_precision(monkeypatch, run, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("F0,F0\n")
    for extra, key in (("", "contradicting_known_pairs"), (" --complete", "precision")):
        words = f"match good.csv good.csv --out m.csv --truth t.csv{extra} --json"
        monkeypatch.setattr(sys, "argv", ["pushforward", *words.split()])
        with pytest.raises(SystemExit):
            main()
        found = json.loads(capsys.readouterr().out)
        assert found["recall"] == 1.0 and key in found
        assert ("precision" in found) == bool(extra)


def test_gulp_by_blocks_and_layers_of_a_run(monkeypatch, run, tmp_path, capsys):
    """What is read block by block is the same; the layers of a run are compared."""
    rng = np.random.default_rng(2)
    for k in range(2):
        (tmp_path / f"net{k}").mkdir()
        np.save(tmp_path / f"net{k}" / "last.npy", rng.normal(size=(60, 3)))
    found = []
    for large in (1e9, 1.0):
        monkeypatch.setattr(_gulp, "LARGE", large)
        words = "gulp net0 net1 --bootstrap 20 --json --out d.csv"
        monkeypatch.setattr(sys, "argv", ["pushforward", *words.split()])
        with pytest.raises(SystemExit):
            main()
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["names"] == ["net0/last", "net1/last"]
    assert "read block by block" in found[1]["read"][-1]
    np.testing.assert_allclose(found[0]["distances"], found[1]["distances"])
    np.testing.assert_allclose(found[0]["errors"], found[1]["errors"], atol=1e-12)
    assert (tmp_path / "d.csv").read_text().count("net1/last") == 1
    mu = pf.Particles.uniform(pf.Sphere(3), 40, key=jax.random.key(0))
    pf.flow(pf.Attention(2.0), mu, 1.0, save=3).save("layers.zarr")
    code, err, new = run("gulp layers.zarr --out l.csv --tree t.png")
    assert code == 0 and new == ["l.csv", "t.png"], err
    assert "layer 0,layer 2" in (tmp_path / "l.csv").read_text()


@pytest.mark.parametrize("option", ["--gate wide", "--distance cosine", "--rho 0"])
def test_options_of_matching_are_checked(run, option):
    code, err, new = run(f"match good.csv good.csv --out m.csv {option}")
    assert code == 3 and "must be" in err and new == []


def test_gulp_on_a_folder_with_errors_and_a_page(run, tmp_path):
    rng = np.random.default_rng(1)
    (tmp_path / "many").mkdir()
    for k in range(3):
        np.save(tmp_path / "many" / f"layer{k}.npy", rng.normal(size=(30, 3)))
    text = "\n".join(";".join(map(str, row)) for row in rng.normal(size=(30, 2)))
    (tmp_path / "c.csv").write_text("a;b\n" + text)
    code, _, new = run("gulp many c.csv --report r.html --tree t.png")
    assert code == 0 and new == ["r.html", "t.png"]
    page = (tmp_path / "r.html").read_text()
    assert "±" in page and "c.csv: 30 samples, 2 features; delimiter" in page
    frame = "\n".join(f"{k},{k % 7}" for k in range(30))
    (tmp_path / "frame.csv").write_text(",x\n" + frame)
    assert "names of rows and left out" in run("gulp a.npy frame.csv")[1]
    named = "\n".join(f"probe{k};{k % 7},5;dog" for k in range(30))
    (tmp_path / "n.csv").write_text(f"name;x (mV);class\n{named}\n")
    (tmp_path / "o.csv").write_text(f"name;x\n{named}\n".replace("probe0", "cat"))
    code, err, _ = run("gulp a.npy n.csv o.csv")
    assert code == 3 and "line 2: 3 cells" in err
    (tmp_path / "o.csv").write_text(f"a;b;c\n{named}\n".replace("probe0", "cat"))
    code, err, _ = run("gulp a.npy n.csv o.csv")
    assert code == 3 and "row 1 is 'probe0' in one and 'cat' in the other" in err
    code, err, _ = run("gulp a.npy n.csv frame.csv")
    assert code == 0 and "columns of words left out: 'name', 'class'" in err
    for k in (2, 10):
        np.save(tmp_path / "many" / f"layer{k}.npy", rng.normal(size=(30, 3)))
    order = run("gulp many")[1]
    assert order.index("layer2.npy") < order.index("layer10.npy")
    np.save(tmp_path / "deep.npy", rng.normal(size=(30, 2, 2)))
    code, err, new = run("gulp a.npy deep.npy")
    assert code == 3 and "(30, 2, 2)" in err and "--flatten" in err and new == []
    assert run("gulp a.npy deep.npy --flatten")[0] == 0


def test_npmle_says_its_noise_and_writes_what_it_is_asked_for(run, tmp_path):
    rows = "\n".join(f"star{k};{k % 2 * 8},5;0,5" for k in range(12))
    (tmp_path / "d.csv").write_text(f"name;v (km/s);err (km/s)\n{rows}\n")
    line = "npmle d.csv --columns v --sigma err --atoms a.csv --posterior p.csv"
    code, err, new = run(f"{line} --report r.html")
    assert code == 0 and new == ["a.csv", "p.csv", "r.html"]
    assert "decimal comma" in err
    assert "a standard deviation per observation" in (tmp_path / "r.html").read_text()
    code, err, new = run("npmle d.csv --columns name --atoms b.csv")
    assert code == 3 and "line 2, column 'name'" in err and new == []
    code, err, new = run("npmle d.csv --posterior q.csv")
    assert code == 0 and "columns of words left out: 'name'" in err
    assert (tmp_path / "q.csv").read_text().splitlines()[1].startswith("star0,2,")
    code, err, _ = run("npmle d.csv --columns v --variance 1e6")
    assert code == 0 and "too large" in err
    code, err, _ = run("npmle d.csv --columns v --drop-missing --keep-missing")
    assert code == 3 and "exclude" in err


def test_three_tables_are_matched_jointly(monkeypatch, run, tmp_path, capsys):
    """Groups, the merged table, mzTab-M and a page; one override serves one of them."""
    renamed = GOOD.replace("row m/z", "Mass!").replace("row retention", "When")
    (tmp_path / "odd.csv").write_text(renamed)
    (tmp_path / "semi.csv").write_text(GOOD.replace(",", ";").replace(".", ","))
    line = "match good.csv semi.csv odd.csv --out g.csv --merged all.csv"
    code, err, new = run(line)
    assert code == 3 and "--columns mz=Mass,rt=Time" in err and new == []
    monkeypatch.setattr(
        sys,
        "argv",
        ["pushforward", *line.split(), "--columns", "mz=Mass!,rt=When time", "--json",
         "--mztab", "m.mztab", "--polarity", "negative", "--report", "r.html"],
    )  # fmt: skip
    with pytest.raises(SystemExit) as stop:
        main()
    found = json.loads(capsys.readouterr().out)
    assert not stop.value.code and found["groups_in_3_tables"] == 3
    assert "Doubtful groups" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "m.mztab").is_file() and (tmp_path / "all.csv").is_file()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--mztab m.mztab", "--polarity positive"),
        ("--columns mz=nothing", "no header row with the columns"),
        ("--blanks Solvent", "a text in the names of some samples"),
        ("--blank-ratio 3", "has no blanks"),
        ("--control-spread 0.3", "needs two"),
        ("--drift-band 0", "must be positive"),
    ],
)
def test_options_that_do_not_fit_write_nothing(run, options, words):
    code, err, new = run(f"match good.csv good.csv --out m.csv {options}")
    assert code == 3 and words in err and new == []
    code, err, new = run("match good.csv --out m.csv")
    assert code == 3 and "two tables at least" in err and new == []
