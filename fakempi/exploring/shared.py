"""Objects that all ranks of a function can reach, and that it could change: what is in them is told to nobody by MPI.

Looked at are what the function is handed, its closure, its defaults, the globals that it names, and, of a method or an
object that can be called, the attributes. Scripts have nothing of the kind, each rank having modules of its own.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

CHANGE = (list, dict, set, bytearray, deque)
LARGEST = 1 << 16
"""Bytes of such objects that are compared at every choice; where there are more, they count as changed."""


class Shared:
    """Those of one program, as they were before its first run."""

    def __init__(self, main: Any, args: Sequence[Any]) -> None:
        self.objects = [one for one in (*args, *_within_reach(main)) if _can_change(one)]
        self.before = self._content()

    def changed(self) -> bool:
        """Whether they are not what they were, or that cannot be told."""
        return bool(self.objects) and (self.before is None or self._content() != self.before)

    def _content(self) -> bytes | None:
        try:
            content = pickle.dumps(self.objects)
        except Exception:  # whatever there is in them
            return None
        return content if len(content) <= LARGEST else None


def _can_change(one: Any) -> bool:
    return isinstance(one, CHANGE) or (type(one).__name__ == "ndarray" and one.flags.writeable)


def _within_reach(main: Any) -> Iterator[Any]:
    owner = getattr(main, "__self__", None if hasattr(main, "__code__") else main)
    yield from getattr(owner, "__dict__", {}).values()
    function = getattr(main, "__func__", main)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    yield from (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    for name in dict.fromkeys(_names(code)):
        if name in function.__globals__:
            yield function.__globals__[name]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
