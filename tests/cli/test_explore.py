"""`pushforward explore`: what it says before it serves."""

import sys

import pytest
from typer.testing import CliRunner

from pushforward.cli._main import app
from pushforward.errors import InputError, StoreError


def test_without_the_web_packages_it_says_what_to_install(monkeypatch):
    for name in [m for m in sys.modules if m.startswith("pushforward.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["explore", "--no-browser"])
    assert isinstance(done.exception, InputError)
    assert "pip install 'pushforward[web]'" in str(done.exception)


def test_a_torn_link_is_refused_before_anything_starts():
    done = CliRunner().invoke(app, ["explore", "--no-browser", "--state", "%%%"])
    assert isinstance(done.exception, InputError) and "link" in str(done.exception)


def test_a_folder_that_is_no_run_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["explore", "--no-browser", "--port", "0", str(tmp_path)]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, StoreError) and "run" in str(done.exception)


def test_a_file_or_a_run_says_which_experiment_is_explored(tmp_path):
    import pushforward as pf
    from pushforward.cli._explore import experiment_at
    from pushforward.experiments import options

    mine = options(n=4, d=2, t1=0.5, frames=2)
    (tmp_path / "spec.toml").write_text(mine.to_toml())
    assert experiment_at(tmp_path / "spec.toml", []) == mine
    run = mine.run(store=tmp_path / "mine")
    assert experiment_at(tmp_path / "mine", []) == mine
    run.save(tmp_path / "bare")
    assert experiment_at(tmp_path / "bare", []) is None
    with pytest.raises(pf.errors.InputError, match="nowhere"):
        experiment_at(tmp_path / "nowhere.toml", [])
