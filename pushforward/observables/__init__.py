"""Functions of a measure: what there is to see."""

from pushforward.observables._attention import attention_entropy as attention_entropy
from pushforward.observables._attention import attention_matrix as attention_matrix
from pushforward.observables._attention import attention_rank as attention_rank
from pushforward.observables._attention import leaders as leaders
from pushforward.observables._clusters import ClusterCount as ClusterCount
from pushforward.observables._clusters import Clusters as Clusters
from pushforward.observables._clusters import LargestMass as LargestMass
from pushforward.observables._clusters import Partition as Partition
from pushforward.observables._cosines import ClosePairs as ClosePairs
from pushforward.observables._cosines import cosine_histogram as cosine_histogram
from pushforward.observables._cosines import effective_rank as effective_rank
from pushforward.observables._cosines import mean_cosine as mean_cosine
from pushforward.observables._cosines import order_parameter as order_parameter
from pushforward.observables._cosines import pair_cosines as pair_cosines
from pushforward.observables._hemisphere import hemisphere_margin as hemisphere_margin
from pushforward.observables._hemisphere import in_hemisphere as in_hemisphere
