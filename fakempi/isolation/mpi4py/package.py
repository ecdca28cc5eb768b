"""The module objects `mpi4py` and `mpi4py.MPI` that scripts import."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any, NoReturn

from fakempi import MPI
from fakempi.errors import MPIError
from fakempi.isolation.mpi4py import private_names
from fakempi.isolation.mpi4py.options import RC_DELETED, Rc, apply_options, options_of
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import running_process
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD, comm_self, comm_world, resolve

VERSION = "4.1.2"
"""The emulated version of mpi4py."""

DIRECTORY = os.path.dirname(os.path.abspath(__file__))


class Package(ModuleType):
    """The module `mpi4py`, shared by all ranks. Options apply to a rank when it imports `MPI`; each rank may delete `rc`."""

    def __init__(self, api: ModuleType, on_import: Callable[[FrameType], None]) -> None:
        super().__init__("mpi4py", "The emulator, under mpi4py's name.")
        self.__dict__.update(_api=api, _rc=Rc(), _on_import=on_import)
        self.__path__ = [DIRECTORY]
        self.__file__ = os.path.join(DIRECTORY, "__init__.py")
        spec = self.__dict__["__spec__"] = ModuleSpec("mpi4py", None, origin=self.__file__, is_package=True)
        spec.submodule_search_locations = self.__path__
        self.__package__ = "mpi4py"
        self.__version__, self.__all__ = VERSION, ["MPI"]
        self.Rc, self.get_include, self.get_config, self.profile = Rc, _no_headers, _no_settings, _no_profile

    @property
    def __spec__(self) -> Any:  # type: ignore[override]  # a read-only attribute
        """The spec of the module. Each import of mpi4py or of one of its modules reads it, as no other code does."""
        self.__dict__["_on_import"](frame_at(1))
        return self.__dict__["__spec__"]

    @property
    def MPI(self) -> Any:
        """The emulator. Accessing it applies the options of the rank."""
        _apply_options()
        return self.__dict__["_api"]

    @property
    def rc(self) -> Any:
        """The options of the rank."""
        if (options_of(running_process())).get(RC_DELETED):
            raise AttributeError("module 'mpi4py' has no attribute 'rc'")
        return self.__dict__["_rc"]

    @rc.deleter
    def rc(self) -> None:
        self.rc  # noqa: B018  raises AttributeError if it has been deleted already
        options_of(running_process())[RC_DELETED] = True

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "MPI", "rc"} - {"_api", "_rc", "_on_import"})


def modules(
    is_private: Callable[[dict[str, Any]], bool],
    on_handle: Callable[[FrameType], None],
    on_import: Callable[[FrameType], None],
) -> dict[str, Any]:
    """Return the modules for `sys.modules`, by name.

    `is_private` returns whether the globals of a module belong to a private module of the running rank. `on_handle` is
    called with the frame of a shared module that gets a handle, which resolves to the running rank's communicator, and
    `on_import` with the frame of an import of mpi4py.
    """
    api = ModuleType("mpi4py.MPI", MPI.__doc__)
    vars(api).update({name: value for name, value in vars(MPI).items() if name in MPI.__all__})
    tables = private_names.TABLES
    vars(api).update({name: value for name, value in private_names.NAMES.items() if name not in tables})
    api.__all__ = list(MPI.__all__)  # type: ignore[attr-defined]  # so `import *` calls `__getattr__`
    api.__spec__ = ModuleSpec("mpi4py.MPI", None)
    api.__package__ = "mpi4py"

    handles = {"COMM_WORLD": (COMM_WORLD, comm_world), "COMM_SELF": (COMM_SELF, comm_self)}

    def of_rank(name: str) -> Any:
        """Return the rank's table of datatypes, or COMM_WORLD or COMM_SELF: the communicator to private modules, a handle
        that resolves to it to shared ones. The communicator itself is faster.
        """
        if name in tables:
            return _table(name)
        if name not in handles:
            raise AttributeError(f"module 'mpi4py.MPI' has no attribute {name!r}")
        handle, find = handles[name]
        _apply_options()
        frame = frame_at(1)
        if is_private(frame.f_globals):
            return resolve(name, handle, find)
        on_handle(frame)
        return handle

    vars(api)["__getattr__"] = of_rank
    vars(api)["__dir__"] = lambda: sorted({*vars(api), *handles, *tables} - {"__all__", "__getattr__", "__dir__"})
    package = Package(api, on_import)
    return {"mpi4py": package, "mpi4py.MPI": api, "mpi4py.rc": package.__dict__["_rc"]}


def _apply_options() -> None:
    """Apply the options of the running rank."""
    try:
        process = running_process()
    except MPIError:  # a thread that may not call MPI
        return
    apply_options(process)


def _table(name: str) -> dict[str, MPI.Datatype]:
    """Return the running rank's copy of a table of datatypes."""
    table = private_names.TABLES[name]
    try:
        options = options_of(running_process())
    except MPIError:  # a thread that may not call MPI
        return table
    copy: dict[str, MPI.Datatype] = options.setdefault(name, dict(table))
    return copy


def _no_settings() -> dict[str, str]:
    return {}


def _no_headers() -> NoReturn:
    raise NotImplementedError("mpi4py.get_include is not emulated: there are no header files.")


def _no_profile(name: str, *, path: Any = None) -> NoReturn:
    raise NotImplementedError("mpi4py.profile is not emulated: there is no MPI library to profile.")
