"""Replaces methods of the compiled classes of mpi4py, in the dictionaries of the types.

Python refuses to set attributes of these types, as compiled code might not notice. mpi4py calls its methods from Python only
through attributes, whose lookup finds the new function once the type's cache is invalid. Subclasses that replace the classes
would miss the objects that compiled code creates (what Split and Isend return, and COMM_WORLD).
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Any

_modified = ctypes.pythonapi.PyType_Modified
_modified.argtypes, _modified.restype = [ctypes.py_object], None


def replace(kind: type[Any], name: str, function: Any) -> None:
    """Replace a method, class method or static method of a compiled type; an attribute that exists."""
    original = kind.__dict__[name]
    for attribute in ("__name__", "__qualname__", "__doc__"):
        with suppress(AttributeError, TypeError):
            setattr(function, attribute, getattr(original, attribute, None) or getattr(function, attribute))
    if isinstance(original, classmethod | staticmethod):
        function = type(original)(function)
    [dictionary] = (each for each in gc.get_referents(kind.__dict__) if type(each) is dict and name in each)
    dictionary[name] = function
    _modified(kind)
