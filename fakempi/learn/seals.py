"""Whether a program has put something of its own in the place of something of ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

SEALED = ("fakempi", "collectives", "json")


class Seals:
    """Every function and class of ours, and every method, as they are now: some 9,000, looked at in a millisecond."""

    def __init__(self) -> None:
        self.known = [(names, key, names[key], where) for where, names in _places() for key in names if _is_code(names[key])]

    def broken(self) -> str:
        """The first that is another one now, or nothing. Things that are new are nobody's."""
        return next((f"{where}.{key}" for names, key, thing, where in self.known if names.get(key) is not thing), "")


def _places() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The modules, and the classes that are made in them, each with its names."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in SEALED and module is not None:
            yield name, vars(module)
            for key, thing in list(vars(module).items()):
                if isinstance(thing, type) and thing.__module__ == name:
                    yield f"{name}.{key}", vars(thing)


def _is_code(thing: Any) -> bool:
    return isinstance(thing, type | FunctionType | property | staticmethod | classmethod)
