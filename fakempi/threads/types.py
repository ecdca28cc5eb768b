"""Other methods for types, of C too, and other functions for modules: for a while.

Locks are made by libraries long before a run, logging's among them, and a lock of C has no dictionary in which to put
anything. So it is the type's own dictionary that is changed, which Python shows as read-only: behind that view is the
dictionary itself, and the interpreter is told that the type has changed, so that it looks again. It works on 3.10 to 3.13.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any


class Changed:
    """A type or module, and other methods or functions for it; of a type of C, those that it has."""

    def __init__(self, owner: Any, names: dict[str, Any]) -> None:
        self.is_type = isinstance(owner, type)
        self.own: dict[str, Any] = gc.get_referents(owner.__dict__)[0] if self.is_type else vars(owner)
        self.owner = ctypes.py_object(owner)
        self.names = {name: value for name, value in names.items() if name in self.own}
        self.before: dict[str, Any] = {}

    def change(self) -> None:
        """From now on, the others."""
        own = self.own
        self.before = {name: own[name] for name in self.names}
        self._set(self.names)

    def restore(self) -> None:
        """What it had before."""
        self._set(self.before)

    def _set(self, names: dict[str, Any]) -> None:
        self.own.update(names)
        if self.is_type:
            _tell_interpreter(self.owner)


_tell_interpreter = ctypes.pythonapi.PyType_Modified
