"""Detect functions and classes of fakempi that a program has replaced."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from operator import is_
from types import FunctionType
from typing import Any

PROTECTED = ("fakempi", "collectives", "json")

SET_BY_EACH_RUN = "fakempi.isolation.rank_state.SysModule"
"""A class whose attributes are functions of the present run."""


class TamperCheck:
    """All functions, classes and methods of the protected packages: about 9,000, compared in a millisecond.

    The comparison is a loop in C: a loop in Python takes three times as long, a tenth of a run of two ranks.
    """

    def __init__(self) -> None:
        self.known: list[tuple[str, Mapping[str, Any], list[str], list[Any]]] = []
        for where, names in _places():
            keys = [key for key, value in names.items() if _is_code(value)]
            if keys and where != SET_BY_EACH_RUN:
                self.known.append((where, names, keys, [names[key] for key in keys]))

    def changed(self) -> str:
        """Return the name of the first one that was replaced, or an empty string. Added names are ignored."""
        for where, names, keys, values in self.known:
            if not all(map(is_, map(names.get, keys), values)):
                return next(f"{where}.{key}" for key, value in zip(keys, values, strict=True) if names.get(key) is not value)
        return ""


def _places() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the modules and the classes defined in them, each with its names."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PROTECTED and module is not None:
            yield name, vars(module)
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    yield f"{name}.{key}", vars(value)


def _is_code(value: Any) -> bool:
    return isinstance(value, type | FunctionType | property | staticmethod | classmethod)
