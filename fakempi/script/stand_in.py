"""What `import mpi4py` finds in a script: our own package of that name, with the emulator in it, installed or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi4py.names import names
from fakempi.mpi4py.package import modules
from fakempi.script.place import Place


def missing(name: str) -> ModuleNotFoundError:
    """What is not there."""
    return ModuleNotFoundError(f"No module named {name!r} in fakempi's mpi4py.", name=name)


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
