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

from fakempi.apps.record.rank_of_mpi import RankOfMPI
from fakempi.extensions.recorder.table import COMM, FILE, MESSAGE, REQUEST, WINDOW, maker_of

_modified = ctypes.pythonapi.PyType_Modified
_modified.argtypes, _modified.restype = [ctypes.py_object], None


def wrap_all(recording: RankOfMPI) -> None:
    """Replace all methods that are recorded."""
    mpi = recording.mpi
    recording.pickles.install(replace)
    classes = {
        COMM: (mpi.Comm, mpi.Intracomm, mpi.Intercomm, mpi.Topocomm, mpi.Cartcomm), REQUEST: (mpi.Request, mpi.Prequest),
        MESSAGE: (mpi.Message,), WINDOW: (mpi.Win,), FILE: (mpi.File,),
    }  # fmt: skip
    for name, kinds in classes.items():
        for kind in kinds:
            for method in list(kind.__dict__):
                maker = maker_of(name, method)
                if maker is not None:
                    replace(kind, method, maker(recording, _function(kind, method)))


def _function(kind: type[Any], name: str) -> Any:
    """Return a method, or a function with the class as its first parameter that calls a class method."""
    found = kind.__dict__[name]
    if not isinstance(found, classmethod | staticmethod):
        return found
    bound = getattr(kind, name)

    def function(cls: Any, *args: Any, **keywords: Any) -> Any:
        return bound(*args, **keywords)

    function.__name__ = name
    return function


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
