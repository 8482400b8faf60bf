"""Files appear whole, whoever else writes them at the same moment."""

import threading

from pushforward._files import replacing, write_atomically


def test_two_threads_may_write_one_file(tmp_path):
    """The page's server did: one took the temporary name of the other away."""
    target = tmp_path / "kept.json"
    with replacing(target) as mine:
        mine.write_bytes(b"first")
        other = threading.Thread(target=write_atomically, args=(target, b"second"))
        other.start()
        other.join()
        assert target.read_bytes() == b"second"
        assert mine.read_bytes() == b"first"
    assert target.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [target]
