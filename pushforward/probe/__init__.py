"""Real Transformers: hidden states and weights as trajectories and fields."""

from pushforward.probe._bert import Bert as Bert
from pushforward.probe._catalogue import Package as Package
from pushforward.probe._catalogue import model_folder as model_folder
from pushforward.probe._catalogue import models as models
from pushforward.probe._download import get_model as get_model
from pushforward.probe._examination import Examination as Examination
from pushforward.probe._examination import evenly as evenly
from pushforward.probe._examination import examine as examine
from pushforward.probe._fields import GatedPerceptron as GatedPerceptron
from pushforward.probe._fields import LayerFields as LayerFields
from pushforward.probe._fields import RotaryAttention as RotaryAttention
from pushforward.probe._fields import fields as fields
from pushforward.probe._fit import SHARES as SHARES
from pushforward.probe._fit import Fit as Fit
from pushforward.probe._fit import LayerFit as LayerFit
from pushforward.probe._fit import fit as fit
from pushforward.probe._fit import own_attention as own_attention
from pushforward.probe._gathering import Lifetimes as Lifetimes
from pushforward.probe._gathering import gathered as gathered
from pushforward.probe._gathering import lifetimes as lifetimes
from pushforward.probe._gpt2 import Gpt2 as Gpt2
from pushforward.probe._heads import REGIMES as REGIMES
from pushforward.probe._heads import HeadSpectra as HeadSpectra
from pushforward.probe._heads import HeadTable as HeadTable
from pushforward.probe._heads import head_spectra as head_spectra
from pushforward.probe._heads import head_table as head_table
from pushforward.probe._heads import regime as regime
from pushforward.probe._heads import seen_beta as seen_beta
from pushforward.probe._heads import spectra as spectra
from pushforward.probe._hidden_files import read_hidden as read_hidden
from pushforward.probe._hidden_files import recording_of as recording_of
from pushforward.probe._layers import LayerTable as LayerTable
from pushforward.probe._layers import cluster_counts as cluster_counts
from pushforward.probe._layers import layer_table as layer_table
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
from pushforward.probe._sample import SAMPLE as SAMPLE
from pushforward.probe._sensitivity import Sensitivity as Sensitivity
from pushforward.probe._sensitivity import sensitivity as sensitivity
from pushforward.probe._text import Tokens as Tokens
from pushforward.probe._torch import from_transformers as from_transformers
from pushforward.probe._transformer import AbstractTransformer as AbstractTransformer
