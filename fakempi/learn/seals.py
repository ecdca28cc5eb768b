"""Whether a program has put something of its own in the place of something of ours."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

SEALED = ("fakempi", "collectives", "json")


class Seals:
    """Every function and class of ours, and every method, as they are now."""

    def __init__(self) -> None:
        self.before = dict(_things())

    def broken(self) -> str:
        """The first that is another one now, or nothing. Things that are new are nobody's."""
        now = dict(_things())
        return next((name for name, thing in self.before.items() if now.get(name, thing) is not thing), "")


def _things() -> Any:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in SEALED and module is not None:
            for key, thing in list(vars(module).items()):
                if isinstance(thing, type) and thing.__module__ == name:
                    yield from ((f"{name}.{key}.{part}", one) for part, one in list(vars(thing).items()) if _is_code(one))
                if isinstance(thing, type) or _is_code(thing):
                    yield f"{name}.{key}", thing


def _is_code(thing: Any) -> bool:
    return isinstance(thing, FunctionType | property | staticmethod | classmethod)
