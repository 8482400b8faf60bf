"""Real Transformers: hidden states and weights as trajectories and fields.

Open `_recording.py` first: what is kept of a sentence. `models` reads and runs trained
models, `measured` has what is found in them, `_examination.py` all of it at once.
"""

from pushforward.probe._examination import Examination as Examination
from pushforward.probe._examination import evenly as evenly
from pushforward.probe._examination import examine as examine
from pushforward.probe._fields import GatedPerceptron as GatedPerceptron
from pushforward.probe._fields import LayerFields as LayerFields
from pushforward.probe._fields import RotaryAttention as RotaryAttention
from pushforward.probe._fields import TrainedAttention as TrainedAttention
from pushforward.probe._fields import fields as fields
from pushforward.probe._recording import Recording as Recording
from pushforward.probe._recording import record as record
from pushforward.probe._recording import run as run
from pushforward.probe._states import read_hidden as read_hidden
from pushforward.probe._states import recording_of as recording_of
from pushforward.probe.measured._collapse import Collapse as Collapse
from pushforward.probe.measured._collapse import collapse as collapse
from pushforward.probe.measured._collapse import token_classes as token_classes
from pushforward.probe.measured._fit import SHARES as SHARES
from pushforward.probe.measured._fit import Fit as Fit
from pushforward.probe.measured._fit import LayerFit as LayerFit
from pushforward.probe.measured._fit import fit as fit
from pushforward.probe.measured._fit import own_attention as own_attention
from pushforward.probe.measured._heads import REGIMES as REGIMES
from pushforward.probe.measured._heads import HeadSpectra as HeadSpectra
from pushforward.probe.measured._heads import HeadTable as HeadTable
from pushforward.probe.measured._heads import critical_beta as critical_beta
from pushforward.probe.measured._heads import head_spectra as head_spectra
from pushforward.probe.measured._heads import head_table as head_table
from pushforward.probe.measured._heads import regime as regime
from pushforward.probe.measured._heads import seen_beta as seen_beta
from pushforward.probe.measured._heads import spectra as spectra
from pushforward.probe.measured._layers import LayerTable as LayerTable
from pushforward.probe.measured._layers import Lifetimes as Lifetimes
from pushforward.probe.measured._layers import Sensitivity as Sensitivity
from pushforward.probe.measured._layers import cluster_counts as cluster_counts
from pushforward.probe.measured._layers import gathered as gathered
from pushforward.probe.measured._layers import layer_table as layer_table
from pushforward.probe.measured._layers import lifetimes as lifetimes
from pushforward.probe.measured._layers import sensitivity as sensitivity
from pushforward.probe.measured._moves import MotionSummary as MotionSummary
from pushforward.probe.measured._moves import Move as Move
from pushforward.probe.measured._moves import motion_summary as motion_summary
from pushforward.probe.measured._moves import telling_moves as telling_moves
from pushforward.probe.measured._normalization import NORMALIZATIONS as NORMALIZATIONS
from pushforward.probe.measured._normalization import (
    AbstractNormalization as AbstractNormalization,
)
from pushforward.probe.measured._normalization import Centered as Centered
from pushforward.probe.measured._normalization import LayerNormalized as LayerNormalized
from pushforward.probe.measured._normalization import Raw as Raw
from pushforward.probe.measured._normalization import Rms as Rms
from pushforward.probe.measured._normalization import TrainedNorm as TrainedNorm
from pushforward.probe.measured._random_heads import RandomHeads as RandomHeads
from pushforward.probe.measured._random_heads import random_heads as random_heads
from pushforward.probe.measured._split import MotionSplit as MotionSplit
from pushforward.probe.measured._split import split_motion as split_motion
from pushforward.probe.measured._verdicts import Verdict as Verdict
from pushforward.probe.measured._verdicts import verdicts as verdicts
from pushforward.probe.models._loading import Model as Model
from pushforward.probe.models._loading import Package as Package
from pushforward.probe.models._loading import get_model as get_model
from pushforward.probe.models._loading import hub_models as hub_models
from pushforward.probe.models._loading import load_model as load_model
from pushforward.probe.models._loading import model_folder as model_folder
from pushforward.probe.models._loading import models as models
from pushforward.probe.models._text import SAMPLE as SAMPLE
from pushforward.probe.models._text import Tokens as Tokens
from pushforward.probe.models._tiny import TinyTraining as TinyTraining
from pushforward.probe.models._tiny import counting_text as counting_text
from pushforward.probe.models._tiny import tiny_post_norm as tiny_post_norm
from pushforward.probe.models._tiny import tiny_pre_norm as tiny_pre_norm
from pushforward.probe.models._tiny import train_tiny as train_tiny
from pushforward.probe.models._torch import from_transformers as from_transformers
from pushforward.probe.models._transformer import Transformer as Transformer
