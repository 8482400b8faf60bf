"""Real Transformers: hidden states and weights as trajectories and fields."""

from pushforward.probe._catalogue import Package as Package
from pushforward.probe._catalogue import model_folder as model_folder
from pushforward.probe._catalogue import models as models
from pushforward.probe._download import get_model as get_model
