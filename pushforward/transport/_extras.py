"""Optional libraries, imported when first needed."""

import importlib
import warnings
from types import ModuleType

from pushforward.errors import InputError


def pot() -> ModuleType:
    """Python Optimal Transport (`ot`), or an error that says how to install it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about backends we do not use
            return importlib.import_module("ot")
    except ImportError:
        raise InputError(
            "exact and Gromov transport need the POT library, which is not installed; "
            'run pip install "pushforward[transport]".'
        ) from None
