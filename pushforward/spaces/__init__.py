"""Where points live.

Open `_space.py` first: what a space does.
"""

from pushforward.spaces._euclidean import Euclidean as Euclidean
from pushforward.spaces._product import Product as Product
from pushforward.spaces._product import TangentBundle as TangentBundle
from pushforward.spaces._space import AbstractSpace as AbstractSpace
from pushforward.spaces._space import norm as norm
from pushforward.spaces._sphere import Circle as Circle
from pushforward.spaces._sphere import Sphere as Sphere
