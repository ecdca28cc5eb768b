"""Other methods for built-in types, for a while.

Locks are made by libraries long before a run, logging's among them, and a lock of C has no dictionary in which to put
anything. So it is the type's own dictionary that is changed, which Python shows as read-only: behind that view is the
dictionary itself, and the interpreter is told that the type has changed, so that it looks again. It works on 3.10 to 3.13.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any


class Changed:
    """A type, its own methods, and the others."""

    def __init__(self, kind: type, methods: dict[str, Any]) -> None:
        (self.names,) = gc.get_referents(kind.__dict__)
        self.kind = ctypes.py_object(kind)
        self.before = {name: self.names[name] for name in methods if name in self.names}
        self.methods = {name: methods[name] for name in self.before}

    def change(self) -> None:
        """From now on, the others."""
        self.names.update(self.methods)
        ctypes.pythonapi.PyType_Modified(self.kind)

    def restore(self) -> None:
        """Its own again."""
        self.names.update(self.before)
        ctypes.pythonapi.PyType_Modified(self.kind)
