"""Runs and specifications on disk.

Open `_run.py` first: a run as it is written and read; `_spec.py` is the text of
objects, `_names.py` the names of classes, `_disk.py` how files appear whole, and the
lock.
"""

from pushforward.io._disk import FolderLock as FolderLock
from pushforward.io._layout import read_attributes as read_attributes
from pushforward.io._names import Unknown as Unknown
from pushforward.io._names import exported as exported
from pushforward.io._names import named as named
from pushforward.io._names import qualified_name as qualified_name
from pushforward.io._reading import load as load
from pushforward.io._run import RunStore as RunStore
from pushforward.io._saving import DescribedRun as DescribedRun
from pushforward.io._saving import Resumption as Resumption
from pushforward.io._saving import open_run as open_run
from pushforward.io._saving import resumption as resumption
from pushforward.io._saving import save_trajectory as save_trajectory
from pushforward.io._spec import from_json as from_json
from pushforward.io._spec import to_json as to_json
