"""Loaders of modules that ranks import: source files compiled once, extension modules loaded once, namespace packages."""

from __future__ import annotations

import importlib._bootstrap_external as external
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, NoReturn

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER
from fakempi.isolation.packages.mpi_libraries import reject_mpi_library
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD

_NamespaceLoader: Any = getattr(external, "NamespaceLoader", None) or external._NamespaceLoader


class SourceLoader(SourceFileLoader):
    """Loader that reads and compiles a source file once for all ranks."""

    def __init__(
        self, fullname: str, path: str, codes: dict[str, CodeType | None], on_code: Callable[[CodeType], None]
    ) -> None:
        super().__init__(fullname, path)
        self.codes, self.on_code = codes, on_code

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code object, which all ranks share."""
        if self.path not in self.codes:
            code = self.codes[self.path] = super().get_code(fullname)
            if code is not None:
                self.on_code(code)
        return self.codes[self.path]


class ExtensionLoader(ExtensionFileLoader):
    """Loader that loads an extension module once and shares it among ranks, because most cannot be loaded twice.

    Two uses of MPI are rejected unless the user has `accepted` them: the module queries MPI while it is loaded, which would
    give all ranks the result of the first rank; or it is linked with an MPI library.
    """

    def __init__(self, name: str, path: str, modules: dict[str, ModuleType], accepted: bool) -> None:
        super().__init__(name, path)
        self.modules, self.accepted = modules, accepted

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the loaded module, or create it."""
        module = self.modules.get(self.path)
        if module is None:
            if not self.accepted:
                reject_mpi_library(self.name, self.path)
            with self._handles_rejected():
                module = super().create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module unless another rank has done so."""
        if self.modules.get(self.path) is not module:
            with self._handles_rejected():
                super().exec_module(module)
            self.modules[self.path] = module

    @contextmanager
    def _handles_rejected(self) -> Iterator[None]:
        """Raise an error if COMM_WORLD or COMM_SELF is used in this context, unless the user has accepted it."""
        before = [(handle, handle._resolve) for handle in (COMM_WORLD, COMM_SELF)]
        try:
            for handle, _ in () if self.accepted else before:
                handle._resolve = self._reject_rank_query
            yield
        finally:
            for handle, resolve in before:
                handle._resolve = resolve

    def _reject_rank_query(self) -> NoReturn:
        raise MPIError(
            ERR_OTHER, f"import of {self.name}: all ranks share this extension module, and it queries its rank or calls MPI "
            "while it is imported: all ranks would use the result of the first rank. Use the option --processes to run each "
            f"rank in a process, or accept it with the option --share {self.name.partition('.')[0]}",
        )  # fmt: skip


class NamespacePackageLoader(_NamespaceLoader):  # type: ignore[misc]  # untyped in typeshed
    """Loader of a private namespace package (PEP 420), which may contain shared modules that other ranks have imported."""

    def __init__(self, spec: ModuleSpec) -> None:
        self._path = spec.submodule_search_locations

    def exec_module(self, module: ModuleType) -> None:
        """Make loaded submodules attributes of the package."""

        def find(name: str) -> Any:
            try:
                return sys.modules[f"{module.__name__}.{name}"]
            except KeyError:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from None

        vars(module)["__getattr__"] = find
