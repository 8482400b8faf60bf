"""One server for all tests of the explorer."""

import faulthandler
import sys

import pytest
from explorer_client import Client, running


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    serving = pytest.importorskip("pushforward.web.server._serve")
    # Two folders of its own above the root: where an upload named ../../x would land.
    root = tmp_path_factory.mktemp("explorer") / "house" / "cache"
    made = serving.Server(root=root, warm=False)
    thread = running(made)
    yield made
    made.stop()
    thread.join(120)  # two workers are killed, and a machine may be busy
    if thread.is_alive():
        faulthandler.dump_traceback(sys.__stderr__)  # where it stands still
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def client(server):
    made = Client(server)
    yield made
    made.http.close()
