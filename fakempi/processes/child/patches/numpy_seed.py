"""The import of numpy by a program: seed its global random generator, and use the modules that the template has imported.

The template is the interpreter from which the processes of ranks are forked.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from typing import Any


class SeedNumpy(MetaPathFinder):
    """A finder for `numpy.random.mtrand`: it uses the other finders, and seeds the generator once the module is loaded."""

    NAME = "numpy.random.mtrand"

    def __init__(self, seed: list[int]) -> None:
        self.seed = seed

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find `numpy.random.mtrand`; other modules are left to the other finders."""
        if name != self.NAME:
            return None
        sys.meta_path.remove(self)
        spec: Any = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.seed)
        return spec


class ImportedNumpy(MetaPathFinder, Loader):
    """A finder that returns the modules of numpy that the template of this process has imported.

    If the program would import another numpy, its modules are not used.
    """

    def __init__(self, stash: dict[str, Any], seed: list[int]) -> None:
        self.stash, self.seed = stash, seed
        self.original = stash["numpy"].__spec__

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Find `numpy`; other modules are left to the other finders."""
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        found, expected = PathFinder.find_spec(name), self.original
        if found is None or found.origin != expected.origin:
            return None
        return ModuleSpec(name, self, origin=expected.origin, is_package=True)

    def create_module(self, spec: Any) -> Any:
        """Return the module that exists already."""
        return self.stash["numpy"]

    def exec_module(self, module: Any) -> None:
        """Add the submodules to `sys.modules`."""
        module.__spec__ = self.original
        sys.modules.update(self.stash)
        random = self.stash.get(SeedNumpy.NAME)
        if random is not None:
            random._rand.seed(self.seed)


class _Loader:
    def __init__(self, loader: Any, seed: list[int]) -> None:
        self.loader, self.seed = loader, seed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: Any) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self.loader.exec_module(module)
        module._rand.seed(self.seed)
