"""Packages that are loaded before the program imports them: its modules appear when it does.

The template, the interpreter from which the processes of ranks are forked, has imported numpy; mpi4py consists of proxies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


class LoadedPackage(MetaPathFinder, Loader):
    """A finder that returns the modules of a package, which are not in `sys.modules` until then.

    `is_found` returns whether the program would import this package, and `then` is called when it has.
    """

    def __init__(
        self, name: str, modules: dict[str, Any], is_found: Callable[[Any], bool], then: Callable[[], object] = bool
    ) -> None:
        self.name, self.modules, self.is_found, self.then = name, modules, is_found, then
        self.spec = modules[name].__spec__

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the package; other modules are left to the other finders."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        return ModuleSpec(name, self, origin=self.spec.origin, is_package=True) if self.is_found(self.spec) else None

    def create_module(self, spec: ModuleSpec) -> Any:
        """Return the module that exists already."""
        return self.modules[self.name]

    def exec_module(self, module: Any) -> None:
        """Restore the attributes that importlib has replaced, and add the modules to `sys.modules`."""
        module.__spec__, module.__loader__ = self.spec, self.spec.loader
        sys.modules.update(self.modules)
        self.then()


def taken(name: str) -> dict[str, Any]:
    """Remove the modules of a package from `sys.modules`, and return them."""
    names = [module for module in sys.modules if module.partition(".")[0] == name]
    return {module: sys.modules.pop(module) for module in names}


def is_on_path(spec: ModuleSpec) -> bool:
    """Return whether the program would import the package from the same file."""
    found = PathFinder.find_spec(spec.name)
    return found is not None and found.origin == spec.origin
