"""Patch methods of types, including compiled types, and names of modules, and restore them.

Libraries such as `logging` create locks long before a run, and a compiled lock has no dictionary, so the dictionary of its
type is changed. `type.__dict__` is a read-only view; the dictionary itself is found as the object to which the view refers.
The interpreter is notified that the type has changed, so that it clears its caches. This works on the versions that
`core.interpreter` lists; on others, only modules and types that are defined in Python may be patched.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_MISSING = object()


class Patch:
    """A type or a module, and replacements for some of its names. Names that it lacks are skipped, unless `may_add`."""

    def __init__(self, owner: Any, names: dict[str, Any], may_add: bool = False) -> None:
        self.owner = owner
        self.names = {name: value for name, value in names.items() if may_add or name in vars(owner)}
        self.before: dict[str, Any] = {}

    def change(self) -> None:
        """Set the replacements."""
        self.before = {name: vars(self.owner).get(name, _MISSING) for name in self.names}
        self._set(self.names)

    def restore(self) -> None:
        """Restore the original values, if they were replaced."""
        if self.before:
            self._set(self.before)
            self.before = {}

    def _set(self, names: dict[str, Any]) -> None:
        if not isinstance(self.owner, type):
            _set_in(vars(self.owner), names)  # not `setattr`, which isolation replaces for modules
        elif self.owner.__flags__ & _IMMUTABLE:
            set_in_compiled(self.owner, names)
        else:
            for name, value in names.items():
                if value is not _MISSING:
                    setattr(self.owner, name, value)
                elif name in vars(self.owner):
                    delattr(self.owner, name)


def set_in_compiled(owner: type, names: dict[str, Any]) -> None:
    """Set names of a compiled type, which does not allow this otherwise."""
    _set_in(gc.get_referents(owner.__dict__)[0], names)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))


def _set_in(namespace: dict[str, Any], names: dict[str, Any]) -> None:
    for name, value in names.items():
        if value is _MISSING:
            namespace.pop(name, None)
        else:
            namespace[name] = value
