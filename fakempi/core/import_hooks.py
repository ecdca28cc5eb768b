"""Changes of modules when a program imports them. Processes of ranks import this module, too, so it needs no other one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class ImportHooks:
    """A finder that uses the other finders, and has functions called with some modules once these are loaded.

    It has no base class, because `importlib.abc` imports ten modules, in each run.
    """

    def __init__(self) -> None:
        self.changes: dict[str, Callable[[Any], object]] = {}  # by name of the module
        self.finding: set[str] = set()

    def add(self, name: str, change: Callable[[Any], object]) -> None:
        """Call a function with a module: now if it is loaded, otherwise once the program imports it."""
        if name in sys.modules:
            change(sys.modules[name])
            return
        self.changes[name] = change
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Change no further modules."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find one of these modules; other modules are left to the other finders."""
        if name not in self.changes or name in self.finding:
            return None
        self.finding.add(name)
        try:
            finders = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
            spec: ModuleSpec | None = next((found for found in finders if found is not None), None)
        finally:
            self.finding.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = CallbackLoader(spec.loader, self.changes[name])  # type: ignore[assignment]  # a loader that delegates to the real one
        return spec


class CallbackLoader:
    """A loader that calls a function with the module when it is loaded."""

    def __init__(self, loader: Any, then: Callable[[Any], object]) -> None:
        self.loader, self.then = loader, then

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the loader: `runpy` and `pkgutil` call `get_code` and `get_data`."""
        if name == "loader":
            raise AttributeError(name)
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as the loader does."""
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: Any) -> None:
        """Execute the module as the loader does, and call the function. No other code sees this loader."""
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.then(module)
