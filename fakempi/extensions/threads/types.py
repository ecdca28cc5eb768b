"""Patch methods of types, including compiled types, and names of modules, and restore them.

Libraries such as `logging` create locks long before a run, and a compiled lock has no dictionary, so the dictionary of its
type is changed. `type.__dict__` is a read-only view; the dictionary itself is found as the object to which the view refers.
The interpreter is notified that the type has changed, so that it clears its caches. This works on Python 3.10 to 3.13.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

_MISSING = object()


class Patch:
    """A type or a module, and replacements for some of its names. Names that it lacks are skipped, unless `may_add`."""

    def __init__(self, owner: Any, names: dict[str, Any], may_add: bool = False) -> None:
        self.is_type = isinstance(owner, type)
        self.namespace: dict[str, Any] = gc.get_referents(owner.__dict__)[0] if self.is_type else vars(owner)
        self.owner = ctypes.py_object(owner)
        self.names = {name: value for name, value in names.items() if may_add or name in self.namespace}
        self.before: dict[str, Any] = {}

    def change(self) -> None:
        """Set the replacements."""
        self.before = {name: self.namespace.get(name, _MISSING) for name in self.names}
        self._set(self.names)

    def restore(self) -> None:
        """Restore the original values."""
        self._set(self.before)

    def _set(self, names: dict[str, Any]) -> None:
        for name, value in names.items():
            if value is _MISSING:
                self.namespace.pop(name, None)
            else:
                self.namespace[name] = value
        if self.is_type:
            _notify_interpreter(self.owner)


_notify_interpreter = ctypes.pythonapi.PyType_Modified
