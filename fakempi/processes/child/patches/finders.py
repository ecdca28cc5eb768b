"""A finder that changes a module of the standard library once a program imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import Any


class ChangeModule(MetaPathFinder):
    """A finder for one module: it uses the other finders, and calls `change(module)` once the module is loaded."""

    def __init__(self, name: str, change: Callable[[Any], None]) -> None:
        self.name, self.change = name, change

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find the module; other modules are left to the other finders."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec: Any = find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.change(module)

        spec.loader.exec_module = exec_module
        return spec
