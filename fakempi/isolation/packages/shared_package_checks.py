"""Checks of shared packages that store values of one rank, which all ranks would then use.

A shared package has one handle for COMM_WORLD, which resolves to the communicator of the running rank. The package may store
that handle. It must not query its rank while it is imported, because it would store the rank of the first importer: that
raises an error. A function that uses a communicator and sets a global variable is reported on stderr, once per package.
"""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.module_locks import is_importing
from fakempi.isolation.packages.dependency_scan import ALWAYS_PRIVATE
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD

HANDLES = (COMM_WORLD, COMM_SELF)


class SharedPackageCheck:
    """Checks modules that obtain a handle.

    `is_accepted(name, file)` returns whether to skip a module, `package_of(name)` the name that the user can choose.
    """

    def __init__(
        self,
        running_state: Callable[[], RankState | None],
        is_accepted: Callable[[str, str], bool],
        package_of: Callable[[str], str],
    ) -> None:
        self.running_state, self.is_accepted, self.package_of = running_state, is_accepted, package_of
        self.original_resolvers = [handle._resolve for handle in HANDLES]
        self.importing: list[tuple[RankState, Any]] = []  # (rank, spec of the shared module that it is importing)
        self.checked: set[CodeType] = set()  # functions that have been checked
        self.reported: set[str] = set()  # packages that have been reported

    def on_handle(self, frame: FrameType) -> None:
        """Check a shared module that obtains a handle in this frame."""
        state, task = self.running_state(), current_task()
        if state is None or task is None:
            return
        if is_importing(task):
            spec = self._imported(state, frame)
            if spec is not None:
                self._watch(state, spec)
        elif frame.f_code not in self.checked:
            self.checked.add(frame.f_code)
            self._report(frame)

    def on_private_import(self, state: RankState, name: str, frame: FrameType) -> None:
        """Report a shared package that imports a private module of the rank."""
        spec = self._imported(state, frame)
        importer, private = ("" if spec is None else self.package_of(spec.name)), self.package_of(name)
        if importer not in ("", private) and private not in ALWAYS_PRIVATE and importer not in self.reported:
            self.reported.add(importer)
            sys.stderr.write(
                f"fakempi: all ranks share the package {importer}, but it imports {private}, of which each rank has a "
                f"private copy, so {importer} uses the copy of one rank on all ranks. fakempi run --private {importer} gives"
                f" each rank a private copy of its Python modules; --share {private} shares both packages; --processes "
                "gives each rank a process.\n"
            )

    def forget(self) -> None:
        """Reset the handles at the end of the run."""
        self.importing.clear()
        for handle, original in zip(HANDLES, self.original_resolvers, strict=True):
            handle._resolve = original

    def _imported(self, state: RankState, frame: FrameType | None) -> Any:
        """Return the spec of the shared module whose import led to this frame; None if there is none or it is accepted."""
        while frame is not None:
            names = frame.f_globals
            name = names.get("__name__")
            if name in state.private:
                return None
            spec = names.get("__spec__")
            if frame.f_code.co_name == "<module>" and getattr(spec, "_initializing", False):
                return None if self.is_accepted(str(name), str(names.get("__file__"))) else spec
            frame = frame.f_back
        return None

    def _watch(self, state: RankState, spec: Any) -> None:
        """Reject uses of the handles by this rank until the module has been imported."""
        if not self.importing:
            for handle, original in zip(HANDLES, self.original_resolvers, strict=True):
                handle._resolve = self._checked_resolver(original)
        self.importing.append((state, spec))

    def _checked_resolver(self, original: Callable[[], Any]) -> Callable[[], Any]:
        """Return a resolver of a handle that raises an error while the running rank imports a shared module."""

        def resolve() -> Any:
            self.importing = [(state, spec) for state, spec in self.importing if spec._initializing]
            if not self.importing:
                self.forget()
            for state, spec in self.importing:
                if state is self.running_state():
                    raise MPIError(ERR_OTHER, _rejection(spec.name, self.package_of(spec.name)))
            return original()

        return resolve

    def _report(self, frame: FrameType) -> None:
        name = str(frame.f_globals.get("__name__"))
        package, file = self.package_of(name), frame.f_code.co_filename
        if package in self.reported or self.is_accepted(name, file):
            return
        if any(step.opname == "STORE_GLOBAL" for step in dis.get_instructions(frame.f_code)):
            self.reported.add(package)
            sys.stderr.write(
                f"fakempi: all ranks share the package {package}, and {name} ({os.path.basename(file)}:{frame.f_lineno}) "
                "sets a global variable in a function that uses a communicator: all ranks may use the value of one rank. "
                f"{_options(package)}\n"
            )


def _rejection(name: str, package: str) -> str:
    return (
        f"import of {name}: all ranks share this package, and it queries its rank or calls MPI while it is imported: all "
        f"ranks would use the result of the first rank. {_options(package)}"
    )


def _options(package: str) -> str:
    return (
        f"fakempi run --private {package} gives each rank a private copy of its Python modules; --share {package} accepts "
        "the result of one rank; --processes gives each rank a process."
    )
