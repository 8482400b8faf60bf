"""`pushforward explore`: what it says before it serves."""

import sys

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
