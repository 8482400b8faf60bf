"""Runs and specifications on disk."""

from pushforward.io._disk import FolderLock as FolderLock
from pushforward.io._disk import write_atomically as write_atomically
from pushforward.io._reading import load as load
from pushforward.io._resume import Resumption as Resumption
from pushforward.io._resume import resumption as resumption
from pushforward.io._run import RunStore as RunStore
from pushforward.io._run import save_trajectory as save_trajectory
from pushforward.io._spec import from_json as from_json
from pushforward.io._spec import to_json as to_json
