"""What `import mpi4py` finds in a script: our own package of that name, with the emulator in it, installed or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi4py.names import names
from fakempi.mpi4py.package import modules
from fakempi.script.place import Place

REFUSED = {
    "mpi4py.util.sync": "its counters, mutexes and semaphores live in windows (MPI.Win), which are not emulated",
}


def missing(name: str, installed: bool = True) -> None:
    """Refuse what is not emulated, and say what is not there."""
    if name in REFUSED:
        raise ModuleNotFoundError(f"{name} is not emulated: {REFUSED[name]}.", name=name)
    if not installed:
        raise ModuleNotFoundError(f"No module named {name!r} in fakempi's mpi4py.", name=name)


def make(who: Callable[[], Place | None]) -> dict[str, Any]:
    """The modules, by name."""

    def own(namespace: dict[str, Any]) -> bool:
        place = who()
        return place is not None and place.owns(namespace)

    def claim(name: str) -> None:
        place = who()
        if place is not None:
            place.own.add(name)

    names.claim = claim
    return modules(own)
