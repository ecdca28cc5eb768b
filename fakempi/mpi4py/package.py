"""The package `mpi4py` and its module `MPI`, as scripts find them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from fakempi import MPI
from fakempi.errors import MPIError
from fakempi.mpi.base.current import running_process
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD, comm_self, comm_world, resolve
from fakempi.mpi4py import hidden
from fakempi.mpi4py.options import HIDDEN, Rc, own, take

VERSION = "4.1.2"
"""The mpi4py whose names and signatures these are."""

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Package(ModuleType):
    """`mpi4py`. All ranks have the same, but each imports `MPI` for itself, and may have deleted `rc`."""

    def __init__(self, api: ModuleType) -> None:
        super().__init__("mpi4py", "The emulator, under mpi4py's name.")
        self.__dict__.update(_api=api, _rc=Rc())
        self.__path__ = [FOLDER]
        self.__file__ = os.path.join(FOLDER, "__init__.py")
        self.__spec__ = ModuleSpec("mpi4py", None, origin=self.__file__, is_package=True)
        self.__spec__.submodule_search_locations = self.__path__
        self.__package__ = "mpi4py"
        self.__version__, self.__all__ = VERSION, ["MPI"]
        self.Rc, self.get_include, self.get_config, self.profile = Rc, _no_headers, _no_settings, _no_profile

    @property
    def MPI(self) -> Any:
        """The emulator. To import it is when options begin to hold."""
        _imported()
        return self.__dict__["_api"]

    @property
    def rc(self) -> Any:
        """The options."""
        if (own(running_process())).get(HIDDEN):
            raise AttributeError("module 'mpi4py' has no attribute 'rc'")
        return self.__dict__["_rc"]

    @rc.deleter
    def rc(self) -> None:
        own(running_process())[HIDDEN] = self.rc is not None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "MPI", "rc"} - {"_api", "_rc"})


def modules(own_module: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What belongs into `sys.modules`, by name. Handed in is whether the globals of a module are the running rank's own."""
    api = ModuleType("mpi4py.MPI", MPI.__doc__)
    vars(api).update({name: value for name, value in vars(MPI).items() if not name.startswith("__")})
    vars(api).update(hidden.NAMES)
    api.__spec__ = ModuleSpec("mpi4py.MPI", None)
    api.__package__ = "mpi4py"

    handles = {"COMM_WORLD": (COMM_WORLD, comm_world), "COMM_SELF": (COMM_SELF, comm_self)}

    def world_or_self(name: str) -> Any:
        """A rank's own modules get its own handle, which is faster; shared ones one that stands for the running rank's."""
        if name not in handles:
            raise AttributeError(f"module 'mpi4py.MPI' has no attribute {name!r}")
        handle, find = handles[name]
        _imported()
        return resolve(name, handle, find) if own_module(sys._getframe(1).f_globals) else handle

    vars(api)["__getattr__"] = world_or_self
    package = Package(api)
    return {"mpi4py": package, "mpi4py.MPI": api, "mpi4py.rc": package.__dict__["_rc"]}


def _imported() -> None:
    """Whoever runs has imported MPI."""
    try:
        process = running_process()
    except MPIError:  # a thread of a rank's, which may not ask
        return
    take(process)


def _no_settings() -> dict[str, str]:
    return {}


def _no_headers() -> NoReturn:
    raise NotImplementedError("mpi4py.get_include is not emulated: there is nothing to compile against.")


def _no_profile(name: str, *, path: Any = None) -> NoReturn:
    raise NotImplementedError("mpi4py.profile is not emulated: there is no MPI library to profile.")
