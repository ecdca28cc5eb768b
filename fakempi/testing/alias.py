"""What `import mpi4py` finds while tests are run: the emulator, always or only where no mpi4py is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CHOICES = ("emulated", "installed", "auto")


class Alias(MetaPathFinder, Loader):
    """Finds mpi4py, and loads the emulator under that name. It costs nothing until somebody imports mpi4py."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The emulator, for that one name."""
        return ModuleSpec(name, self, is_package=True) if name == "mpi4py" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The emulator's modules, all at once."""
        from fakempi.script import stand_in

        modules = stand_in.make(lambda: None)
        sys.modules.update({name: module for name, module in modules.items() if name != "mpi4py"})
        package: ModuleType = modules["mpi4py"]
        return package

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""

    def install(self, choice: str) -> None:
        """Before all others, or behind them, or not at all."""
        if choice != "installed":
            sys.meta_path.insert(0 if choice == "emulated" else len(sys.meta_path), self)

    def remove(self) -> None:
        """As it was: whoever imports mpi4py from now on finds what is installed."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            if emulates(sys.modules.get("mpi4py")):
                for name in [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]:
                    del sys.modules[name]


def emulates(package: ModuleType | None) -> bool:
    """Whether this mpi4py is the emulator."""
    return isinstance(getattr(package, "__loader__", None), Alias)


def warning() -> str:
    """What to say of a failure where the real mpi4py is loaded beside the emulator; nothing if it is not."""
    package = sys.modules.get("mpi4py")
    if package is None or emulates(package) or "mpi4py.MPI" not in sys.modules:
        return ""
    return "the real mpi4py is loaded: for virtual ranks use --mpi4py=emulated, or mpi4py = emulated in the ini file"
