"""How sum_j w_j e^{beta <x_i, y_j>} f(y_j) is evaluated.

Open `_kernel.py` first: the sum as an object. `_auto.py` chooses among `_exact.py`, the
fused kernels in `gpu`, the fast sums in `modes` and `_nystrom.py`; `native` is the C++.
"""

from pushforward.sums._auto import Auto as Auto
from pushforward.sums._auto import choose as choose
from pushforward.sums._auto import describe as describe
from pushforward.sums._balanced import balanced as balanced
from pushforward.sums._balanced import balancing as balancing
from pushforward.sums._balanced import reweighted as reweighted
from pushforward.sums._by_rows import by_rows as by_rows
from pushforward.sums._exact import Exact as Exact
from pushforward.sums._exact import RowScaled as RowScaled
from pushforward.sums._kernel import AbstractSum as AbstractSum
from pushforward.sums._kernel import Kernel as Kernel
from pushforward.sums._kernel import KernelSum as KernelSum
from pushforward.sums._nystrom import Nystrom as Nystrom
from pushforward.sums._ring import Ring as Ring
from pushforward.sums.gpu._fused import FusedGPU as FusedGPU
from pushforward.sums.gpu._fused import HalfGPU as HalfGPU
from pushforward.sums.modes._funk_hecke import funk_hecke as funk_hecke
from pushforward.sums.modes._funk_hecke import kernel_modes as kernel_modes
from pushforward.sums.modes._spectral import Spectral as Spectral
