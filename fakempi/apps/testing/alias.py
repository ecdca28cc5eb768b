"""Make `import mpi4py` load the emulator during a test session, always or only if there is no MPI library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from weakref import WeakSet

CHOICES = ("emulated", "installed", "auto")

EMULATED: WeakSet[ModuleType] = WeakSet()
"""The modules that were imported as `mpi4py.MPI` and are the emulator."""


class Alias(MetaPathFinder, Loader):
    """A finder that loads the emulator as mpi4py. The emulator's modules are created when mpi4py is first imported.

    Attributes
    ----------
    choice : one of `CHOICES`; "auto" may become "emulated"
    why : the reason, for the header of the session
    decide : with "auto", returns whether to emulate, and why; None once it has been called
    users_of_real : modules other than plugins that had already bound the real mpi4py.MPI
    unusable : the error with which importing the installed mpi4py.MPI failed, such as a missing MPI library; empty if none
    """

    def __init__(self, choice: str, why: str = "") -> None:
        self.choice, self.why, self.unusable = choice, why, ""
        self.decide: Callable[[], tuple[bool, str]] | None = (lambda: (False, "")) if choice == "auto" else None
        self.users_of_real: list[str] = []
        self.hidden: dict[str, ModuleType] = {}  # real mpi4py modules that were imported before `install`
        self.modules: dict[str, Any] = {}  # the modules of the emulator, once they are created

    def install(self) -> None:
        """Insert this finder before all others. Modules that have already imported the real mpi4py continue to use it."""
        if self.choice == "installed" or self in sys.meta_path:
            return
        sys.meta_path.insert(0, self)
        if self.choice == "emulated":
            self.emulate()

    def settle(self) -> None:
        """Decide what "auto" means, once."""
        if self.decide is not None:
            decide, self.decide = self.decide, None  # it may import mpi4py
            emulated, self.why = decide()
            if emulated:
                self.emulate()

    def emulate(self) -> None:
        """Load the emulator from here on."""
        self.choice = "emulated"
        if real_is_loaded():
            self.users_of_real = _users(sys.modules["mpi4py.MPI"])
        self.hidden.update(_remove_modules())

    def remove(self) -> None:
        """Remove this finder: later imports of mpi4py load the installed package."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            if self.modules and sys.modules.get("mpi4py.MPI") is self.modules["mpi4py.MPI"]:
                _remove_modules()
            sys.modules.update(self.hidden)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec that loads the emulator as mpi4py; with "auto", as mpi4py.MPI if the real module does not load."""
        if name == "mpi4py":
            self.settle()
        if name == "mpi4py" and (self.choice == "emulated" or _spec_from_other_finders(name, path, target) is None):
            return ModuleSpec(name, self, is_package=True)
        if name == "mpi4py.MPI" and self.choice == "auto":
            try:
                spec = _spec_from_other_finders(name, path, target)
                if spec is not None:
                    spec.loader = FallbackLoader(self, spec.loader)
                return spec
            except (ImportError, RuntimeError) as error:
                return ModuleSpec(name, FallbackLoader(self, None, error))
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create all modules of the emulator, and return the package."""
        self.make()
        sys.modules.update({name: module for name, module in self.modules.items() if name != "mpi4py"})
        package: ModuleType = self.modules["mpi4py"]
        return package

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the modules are complete."""

    def make(self) -> Any:
        """Return the emulator's MPI module; the first call creates it."""
        from fakempi.isolation import mpi4py_modules

        self.modules = self.modules or mpi4py_modules.make(lambda: None, lambda frame: None)
        EMULATED.add(self.modules["mpi4py.MPI"])
        return self.modules["mpi4py.MPI"]


class FallbackLoader(Loader):
    """Loads the real mpi4py.MPI, or the emulator if that fails: an mpi4py wheel may be installed without an MPI library."""

    def __init__(self, alias: Alias, real: Any, error: BaseException | None = None) -> None:
        self.alias, self.real, self.error = alias, real, error

    def create_module(self, spec: ModuleSpec) -> Any:
        """Load the extension module and its MPI library, or the emulator."""
        if self.error is None:
            try:
                return self.real.create_module(spec)
            except (ImportError, RuntimeError) as error:
                self.error = error
        return self._emulate()

    def exec_module(self, module: ModuleType) -> None:
        """Initialize the real module, or replace it by the emulator."""
        if self.error is None:
            try:
                self.real.exec_module(module)
            except (ImportError, RuntimeError) as error:
                self.error = error
                sys.modules["mpi4py.MPI"] = self._emulate()

    def _emulate(self) -> Any:
        """Return the emulator's MPI module, and make the package mpi4py use it."""
        from fakempi.isolation import mpi4py_modules

        self.alias.unusable = (str(self.error).splitlines() or [type(self.error).__name__])[0]
        module = self.alias.make()
        mpi4py_modules.take_over(sys.modules["mpi4py"], self.alias.modules["mpi4py"])
        return module


def _spec_from_other_finders(name: str, path: Sequence[str] | None, target: Any) -> ModuleSpec | None:
    """Return the spec that `import` would find without this finder."""
    for finder in sys.meta_path:
        spec = None if isinstance(finder, Alias) else finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


def _remove_modules() -> dict[str, ModuleType]:
    """Remove mpi4py from `sys.modules`, and return its modules."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "mpi4py"}


def emulates(module: Any) -> bool:
    """Return whether an object is a module mpi4py.MPI of the emulator."""
    return isinstance(module, ModuleType) and module in EMULATED


def is_installed() -> bool:
    """Return whether a package mpi4py can be found, which may not have an MPI library."""
    return "mpi4py" in sys.modules or _spec_from_other_finders("mpi4py", None, None) is not None


def real_is_loaded() -> bool:
    """Return whether `mpi4py.MPI` is loaded, and not the emulator."""
    module = sys.modules.get("mpi4py.MPI")
    return module is not None and not emulates(module)


def _users(real: ModuleType) -> list[str]:
    """Return the modules that bind mpi4py.MPI, without pytest plugins, which do not run on ranks."""
    loaded = [(name, module) for name, module in sorted(sys.modules.items()) if type(module) is ModuleType]
    users = {name for name, module in loaded if any(value is real for value in list(vars(module).values()))}
    return sorted(name for name in users if name.partition(".")[0] not in ("mpi4py", "fakempi") and "pytest" not in name)


def warning() -> str:
    """Return a hint for failure reports if the real mpi4py is loaded next to the emulator; empty if it is not."""
    if not real_is_loaded():
        return ""
    sentence = "`from mpi4py import MPI` is the real mpi4py in this process, not the emulator that the test received as comm"
    return f"{sentence}; to change it, pass --mpi4py=emulated or set mpi4py = emulated in the ini file"
