"""Steering measures: one schedule of weights that sends inputs to targets.

Open `planner.py` first: the schedule, step by step; `refining.py` improves it.
"""

from pushforward.control.steering.planner import steer as steer
from pushforward.control.steering.refining import Refined as Refined
from pushforward.control.steering.refining import learn as learn
from pushforward.control.steering.refining import refine as refine
from pushforward.control.steering.steered import Steered as Steered
from pushforward.control.steering.targets import Sampled as Sampled
