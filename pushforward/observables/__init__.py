"""Functions of a measure: what there is to see.

Open `_cosines.py` first: what most runs record; `_life.py` looks at whole runs.
"""

from pushforward.observables._attention import attention_entropy as attention_entropy
from pushforward.observables._attention import attention_matrix as attention_matrix
from pushforward.observables._attention import attention_rank as attention_rank
from pushforward.observables._attention import leaders as leaders
from pushforward.observables._centers import Absorption as Absorption
from pushforward.observables._centers import CenterIndices as CenterIndices
from pushforward.observables._centers import Centers as Centers
from pushforward.observables._clusters import CLUSTER_RADIUS as CLUSTER_RADIUS
from pushforward.observables._clusters import ClusterCount as ClusterCount
from pushforward.observables._clusters import Clusters as Clusters
from pushforward.observables._clusters import LargestMass as LargestMass
from pushforward.observables._clusters import Mode as Mode
from pushforward.observables._clusters import Partition as Partition
from pushforward.observables._cosines import ClosePairs as ClosePairs
from pushforward.observables._cosines import cosine_histogram as cosine_histogram
from pushforward.observables._cosines import effective_rank as effective_rank
from pushforward.observables._cosines import hemisphere_margin as hemisphere_margin
from pushforward.observables._cosines import in_hemisphere as in_hemisphere
from pushforward.observables._cosines import mean_cosine as mean_cosine
from pushforward.observables._cosines import order_parameter as order_parameter
from pushforward.observables._cosines import pair_cosines as pair_cosines
from pushforward.observables._life import ClusterLife as ClusterLife
from pushforward.observables._life import Life as Life
from pushforward.observables._life import Plateau as Plateau
from pushforward.observables._life import cluster_life as cluster_life
from pushforward.observables._limits import ParallelSubspaces as ParallelSubspaces
from pushforward.observables._limits import distance_to_set as distance_to_set
from pushforward.observables._limits import hull_volume as hull_volume
from pushforward.observables._limits import limit_set_gap as limit_set_gap
