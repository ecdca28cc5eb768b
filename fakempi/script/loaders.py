"""How a rank's own modules are loaded: sources compiled once for all ranks; compiled modules, and packages without files."""

from __future__ import annotations

import importlib._bootstrap_external as external
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, NoReturn

from fakempi.error_classes import ERR_OTHER
from fakempi.errors import MPIError
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD

_NamespaceLoader: Any = getattr(external, "NamespaceLoader", None) or external._NamespaceLoader


class Loader(SourceFileLoader):
    """Reads and compiles a file once for all ranks."""

    def __init__(self, fullname: str, path: str, codes: dict[str, CodeType | None]) -> None:
        super().__init__(fullname, path)
        self.codes = codes

    def get_code(self, fullname: str) -> CodeType | None:
        """The code, which all ranks share: it never changes."""
        if self.path not in self.codes:
            self.codes[self.path] = super().get_code(fullname)
        return self.codes[self.path]


class Compiled(ExtensionFileLoader):
    """Loads a compiled module for the first rank that asks, and gives that to the others: most cannot be loaded twice.

    What such a module keeps, ranks share. Two things can be noticed, and are refused unless somebody has `accepted` it: it
    asks MPI something while it is loaded, which would be the first rank's answer for all; and it talks to an MPI library.
    """

    def __init__(self, name: str, path: str, modules: dict[str, ModuleType], accepted: bool) -> None:
        super().__init__(name, path)
        self.modules, self.accepted = modules, accepted

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The one there is, or a new one."""
        module = self.modules.get(self.path)
        if module is None:
            if not self.accepted:
                self._refuse_a_library()
            with self._watched():
                module = super().create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute it, unless it is done."""
        if self.modules.get(self.path) is not module:
            with self._watched():
                super().exec_module(module)
            self.modules[self.path] = module

    def _refuse_a_library(self) -> None:
        with open(self.path, "rb") as file:
            if b"MPI_Comm_rank" in file.read():
                raise ImportError(
                    f"{self.name} is compiled for an MPI library, which knows nothing of the ranks of this run. "
                    f"If it can do without: {self._way_out()}.", name=self.name, path=self.path,
                )  # fmt: skip

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Meanwhile, the handles that shared modules get refuse to be used."""
        before = [(handle, handle._resolve) for handle in (COMM_WORLD, COMM_SELF)]
        try:
            for handle, _ in () if self.accepted else before:
                handle._resolve = self._refuse_the_rank
            yield
        finally:
            for handle, resolve in before:
                handle._resolve = resolve

    def _refuse_the_rank(self) -> NoReturn:
        raise MPIError(
            ERR_OTHER, f"import of {self.name}: it is compiled, so all ranks share it, and it asks for its rank or "
            f"calls MPI while it is imported: the answer would be the first rank's on all. If it may be: {self._way_out()}.",
        )  # fmt: skip

    def _way_out(self) -> str:
        return f"fakempi run --share {self.name.partition('.')[0]}"


class Followed:
    """Loads a shared module, and calls a function with it when that is done."""

    def __init__(self, loader: Any, then: Callable[[Any], None]) -> None:
        self.loader, self.then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As ever."""
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: Any) -> None:
        """Nobody else is to see this loader."""
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.then(module)


class Namespace(_NamespaceLoader):  # type: ignore[misc]
    """Makes a package that has no files: a rank's own, with the shared modules in it that other ranks have imported."""

    def __init__(self, spec: ModuleSpec) -> None:
        self._path = spec.submodule_search_locations

    def exec_module(self, module: ModuleType) -> None:
        """Have it find modules that are loaded, which for Python are attributes of their package."""

        def find(name: str) -> Any:
            try:
                return sys.modules[f"{module.__name__}.{name}"]
            except KeyError:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from None

        vars(module)["__getattr__"] = find
