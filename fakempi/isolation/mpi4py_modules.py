"""The modules that `import mpi4py` finds in a script: those of the emulator, whether or not mpi4py is installed."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from fakempi.isolation.mpi4py.package import modules
from fakempi.isolation.rank_state import RankState


def missing(name: str) -> ModuleNotFoundError:
    """Return the error for a submodule that the emulator's mpi4py does not have."""
    return ModuleNotFoundError(f"No module named {name!r} in fakempi's mpi4py.", name=name)


def make(
    running_state: Callable[[], RankState | None],
    on_handle: Callable[[FrameType], None] = lambda frame: None,
    on_import: Callable[[FrameType], None] = lambda frame: None,
) -> dict[str, Any]:
    """Return the modules by name; the functions are called with a frame.

    `on_handle` gets that of a shared module that obtains a communicator, `on_import` that of an import of mpi4py.
    """

    def own(namespace: dict[str, Any]) -> bool:
        state = running_state()
        return state is not None and state.owns(namespace)

    return modules(own, on_handle, on_import)


def take_over(real: ModuleType, emulated: ModuleType) -> None:
    """Give an installed package mpi4py, whose module MPI cannot be loaded, the emulator's settings and functions."""
    vars(real).update({name: getattr(emulated, name) for name in ("rc", "get_config", "profile")})
