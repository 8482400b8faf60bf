"""Steering measures: one schedule of weights that sends inputs to targets."""

from pushforward.control.steering.planner import steer as steer
from pushforward.control.steering.steered import Steered as Steered
from pushforward.control.steering.targets import Sampled as Sampled
