"""The modules that `import mpi4py` finds in a script: the emulator under mpi4py's names.

`mpi4py.MPI` has the names of `fakempi.MPI`. `mpi4py.util`, `mpi4py.typing` and `mpi4py.bench` are plain Python on top of
it, and are taken from the real mpi4py where that is installed. Its `MPI`, which needs an MPI library, is not loaded.
`mpi4py.futures`, and `mpi4py.util.pool` with it, call MPI from threads of their own, which is not emulated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, ClassVar

from fakempi import MPI
from fakempi.mpi.base.current import current_process
from fakempi.mpi.comms.predefined import COMM_SELF, COMM_WORLD
from fakempi.script import hidden
from fakempi.script.place import Place

VERSION = "4.1.2"
"""The mpi4py whose names and signatures these are."""

REFUSED = {
    "mpi4py.futures": "it calls MPI from threads of its own",
    "mpi4py.run": "a failing rank ends the run anyway",
}


def missing(name: str, installed: bool = True) -> None:
    """Refuse what is not emulated, and say what is not there."""
    if name in REFUSED:
        raise ModuleNotFoundError(f"{name} is not emulated: {REFUSED[name]}.", name=name)
    if not installed:
        raise ModuleNotFoundError(
            f"No module named {name!r}: it is plain Python that comes with mpi4py, which is not installed here "
            "(pip install mpi4py).", name=name,
        )  # fmt: skip


class Rc:
    """`mpi4py.rc`, of which every rank has its own settings. They are kept, and change nothing: ranks start initialized."""

    _defaults: ClassVar[dict[str, Any]] = {
        "initialize": True, "threads": True, "thread_level": "multiple", "finalize": None, "fast_reduce": True,
        "recv_mprobe": True, "irecv_bufsz": 32768, "errors": "exception",
    }  # fmt: skip

    def __init__(self) -> None:
        object.__setattr__(self, "_changed", {})

    def __getattr__(self, name: str) -> Any:
        if name not in self._defaults:
            raise AttributeError(f"mpi4py.rc has no option {name!r}")
        return self._changed.get((current_process(), name), self._defaults[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise TypeError(f"mpi4py.rc has no option {name!r}")
        self._changed[current_process(), name] = value

    def __call__(self, **options: Any) -> None:
        """Set options."""
        for name in options:
            if name not in self._defaults:
                raise TypeError(f"mpi4py.rc has no option {name!r}")
        for name, value in options.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        return "<mpi4py.rc>"


def make(who: Callable[[], Place | None]) -> dict[str, Any]:
    """The modules, by name."""
    real = PathFinder.find_spec("mpi4py")
    package = ModuleType("mpi4py", "The emulator, under mpi4py's name.")
    package.__path__ = list(real.submodule_search_locations or ()) if real else []
    package.__spec__ = ModuleSpec("mpi4py", None, is_package=True)
    package.__spec__.submodule_search_locations = package.__path__
    package.__package__ = "mpi4py"
    api = ModuleType("mpi4py.MPI", MPI.__doc__)
    vars(api).update({name: value for name, value in vars(MPI).items() if not name.startswith("__")})
    vars(api).update(hidden.NAMES)
    api.__spec__ = ModuleSpec("mpi4py.MPI", None)
    api.__package__ = "mpi4py"

    def world_or_self(name: str) -> Any:
        """A rank's own modules get its own handle, which is faster; shared ones one that stands for the running rank's."""
        if name not in ("COMM_WORLD", "COMM_SELF"):
            raise AttributeError(f"module 'mpi4py.MPI' has no attribute {name!r}")
        place = who()
        if place is not None and place.owns(sys._getframe(1).f_globals):
            return getattr(MPI, name)
        return COMM_WORLD if name == "COMM_WORLD" else COMM_SELF

    vars(api)["__getattr__"] = world_or_self
    rc = Rc()
    vars(package).update(
        MPI=api, rc=rc, __version__=VERSION, __all__=["MPI"], get_include=_no_headers, get_config=dict, profile=_no_profile
    )
    return {"mpi4py": package, "mpi4py.MPI": api, "mpi4py.rc": rc}


def _no_headers() -> str:
    raise NotImplementedError("mpi4py.get_include is not emulated: there is nothing to compile against.")


def _no_profile(name: str, *, path: Any = None) -> None:
    raise NotImplementedError("mpi4py.profile is not emulated: there is no MPI library to profile.")
