"""Detect functions and classes of fakempi that a program has replaced."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

PROTECTED = ("fakempi", "collectives", "json")
CODE = (type, FunctionType, property, staticmethod, classmethod)

SET_BY_EACH_RUN = "fakempi.isolation.rank_state.SysModule"
"""A class whose attributes are functions of the present run."""


class TamperCheck:
    """All functions, classes and methods of the protected packages: about 10,000, compared in two milliseconds."""

    def __init__(self) -> None:
        self.known = [
            (names, key, names[key], where)
            for where, names in _places()
            for key in names
            if isinstance(names[key], CODE) and where != SET_BY_EACH_RUN
        ]

    def changed(self) -> str:
        """Return the name of the first one that was replaced, or an empty string. Added names are ignored."""
        return next((f"{where}.{key}" for names, key, value, where in self.known if names.get(key) is not value), "")


def _places() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the modules and the classes defined in them, each with its names."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PROTECTED and module is not None:
            yield name, vars(module)
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    yield f"{name}.{key}", vars(value)
