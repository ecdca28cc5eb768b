"""Pickle objects that contain algorithms, for work on other processes.

An algorithm contains lambdas and cannot be pickled. It is sent as a reference instead: kind, operation and name of an
algorithm in the catalogue, or the path of a file, which must exist on the worker.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.entries import CATALOGUE, find
from collectives.loading import load


def pack(value: object) -> bytes | None:
    """Return a pickled object, or None if it cannot be pickled."""
    file = io.BytesIO()
    try:
        _Packer(file).dump(value)
    except Exception:  # pickle raises many kinds of exceptions
        return None
    return file.getvalue()


def unpack(data: bytes) -> object:
    """Return the object that `pack` has pickled."""
    return _Unpacker(io.BytesIO(data)).load()


class _Packer(pickle.Pickler):
    def persistent_id(self, value: object) -> tuple[str, ...] | None:
        if not isinstance(value, Algorithm):
            return None
        if any(value is algorithm for algorithm in CATALOGUE):
            return value.kind, value.operation, value.name
        module: Any = sys.modules.get(value.run.__module__)
        # Only files that `load` executed have no specification; the main program must not be executed again.
        if getattr(module, "ALGORITHM", None) is value and module.__spec__ is None and module.__name__ != "__main__":
            return (module.__file__,)
        raise pickle.PicklingError(f"{value!r} is not in the catalogue and not in a file.")


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, reference: tuple[str, ...]) -> Algorithm:
        if len(reference) == 1:
            return load(*reference)
        kind, operation, name = reference
        return find(operation, name, kind)
