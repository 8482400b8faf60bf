"""Real Transformers: hidden states and weights as trajectories and fields."""

from pushforward.probe._bert import Bert as Bert
from pushforward.probe._catalogue import Package as Package
from pushforward.probe._catalogue import model_folder as model_folder
from pushforward.probe._catalogue import models as models
from pushforward.probe._download import get_model as get_model
from pushforward.probe._gpt2 import Gpt2 as Gpt2
from pushforward.probe._hidden_files import read_hidden as read_hidden
from pushforward.probe._hidden_files import recording_of as recording_of
from pushforward.probe._llama import Llama as Llama
from pushforward.probe._loading import Model as Model
from pushforward.probe._loading import load_model as load_model
from pushforward.probe._normalization import NORMALIZATIONS as NORMALIZATIONS
from pushforward.probe._normalization import (
    AbstractNormalization as AbstractNormalization,
)
from pushforward.probe._normalization import Centered as Centered
from pushforward.probe._normalization import LayerNormalized as LayerNormalized
from pushforward.probe._normalization import Raw as Raw
from pushforward.probe._normalization import Rms as Rms
from pushforward.probe._normalization import TrainedNorm as TrainedNorm
from pushforward.probe._recording import Recording as Recording
from pushforward.probe._recording import record as record
from pushforward.probe._recording import run as run
from pushforward.probe._text import Tokens as Tokens
from pushforward.probe._torch import from_transformers as from_transformers
from pushforward.probe._transformer import AbstractTransformer as AbstractTransformer
