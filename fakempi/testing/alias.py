"""What `import mpi4py` finds while tests are run: the emulator, always or only where there is no MPI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CHOICES = ("emulated", "installed", "auto")


class Alias(MetaPathFinder, Loader):
    """Finds mpi4py, and loads the emulator under that name. It costs nothing until somebody imports mpi4py.

    Attributes
    ----------
    found_wanting : why an mpi4py that is installed is not used: it has no MPI library. Empty if it is, or if there is none
    """

    def __init__(self, choice: str) -> None:
        self.choice, self.found_wanting = choice, ""
        self.hidden: dict[str, ModuleType] = {}  # the real one, if somebody has imported it before
        self.modules: dict[str, Any] = {}

    def install(self) -> None:
        """Before all others; and whoever has imported the real one keeps that, but nobody else finds it any more."""
        if self.choice == "installed" or self in sys.meta_path:
            return
        if self.choice == "emulated":
            self.hidden.update(_take())
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """As it was: whoever imports mpi4py from now on finds what is installed."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            if getattr(sys.modules.get("mpi4py.MPI"), "_loaded_by", None) is self:
                _take()
            sys.modules.update(self.hidden)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The emulator, in place of all of mpi4py or of its MPI alone."""
        if name == "mpi4py" and (self.choice == "emulated" or _found(name, path, target) is None):
            return ModuleSpec(name, self, is_package=True)
        if name == "mpi4py.MPI" and self.choice == "auto":
            try:
                spec = _found(name, path, target)
                if spec is not None:
                    spec.loader = Attempt(self, spec.loader)
                return spec
            except (ImportError, RuntimeError) as error:
                return ModuleSpec(name, Attempt(self, None, error))
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The emulator's modules, all at once."""
        self.make()
        sys.modules.update({name: module for name, module in self.modules.items() if name != "mpi4py"})
        package: ModuleType = self.modules["mpi4py"]
        return package

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""

    def make(self) -> Any:
        """The emulator's MPI."""
        from fakempi.script import stand_in

        self.modules = self.modules or stand_in.make(lambda: None)
        vars(self.modules["mpi4py.MPI"])["_loaded_by"] = self
        return self.modules["mpi4py.MPI"]


class Attempt(Loader):
    """Loads the real MPI, or the emulator's where that fails: a wheel of mpi4py is there before any MPI library is."""

    def __init__(self, alias: Alias, real: Any, error: BaseException | None = None) -> None:
        self.alias, self.real, self.error = alias, real, error

    def create_module(self, spec: ModuleSpec) -> Any:
        """An extension module is loaded here, with the library that it needs."""
        if self.error is None:
            try:
                return self.real.create_module(spec)
            except (ImportError, RuntimeError) as error:
                self.error = error
        return self._emulate()

    def exec_module(self, module: ModuleType) -> None:
        """The real one has still to begin."""
        if self.error is None:
            try:
                self.real.exec_module(module)
            except (ImportError, RuntimeError) as error:
                self.error = error
                sys.modules["mpi4py.MPI"] = self._emulate()

    def _emulate(self) -> Any:
        """The emulator's MPI; and what is in the package that goes with it."""
        self.alias.found_wanting = (str(self.error).splitlines() or [type(self.error).__name__])[0]
        made = self.alias.make()
        real, emulated = sys.modules["mpi4py"], self.alias.modules["mpi4py"]
        vars(real).update({name: getattr(emulated, name) for name in ("rc", "get_config", "profile")})
        return made


def _found(name: str, path: Sequence[str] | None, target: Any) -> ModuleSpec | None:
    """What the other finders have."""
    for finder in sys.meta_path:
        spec = None if isinstance(finder, Alias) else finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


def _take() -> dict[str, ModuleType]:
    """Take mpi4py out of `sys.modules`."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "mpi4py"}


def emulates(module: ModuleType | None) -> bool:
    """Whether this mpi4py.MPI is the emulator."""
    return hasattr(module, "_loaded_by")


def warning() -> str:
    """What to say of a failure where the real mpi4py is loaded beside the emulator; nothing if it is not."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None or emulates(module):
        return ""
    return "the real mpi4py is loaded: for virtual ranks use --mpi4py=emulated, or mpi4py = emulated in the ini file"
