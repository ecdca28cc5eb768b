"""What a program's info says about accesses of all ranks together: by how many ranks, with how much memory, or not at all.

The keys are those that MPI reserves, and ROMIO's. What makes no sense is ignored, as MPI wants it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from fakempi.error_classes import ERR_NOT_SAME
from fakempi.mpi.base.complain import complaint


class Hints(NamedTuple):
    """What was said, by key; empty is nothing."""

    cb_nodes: str = ""
    cb_buffer_size: str = ""
    romio_cb_read: str = ""
    romio_cb_write: str = ""

    def updated(self, info: Any) -> Hints:
        """These, and what the info says anew."""
        said = {key: value for key, value in (info or {}).items() if key in self._fields and _makes_sense(key, value)}
        return self._replace(**said)


def _makes_sense(key: str, value: str) -> bool:
    if key.startswith("romio"):
        return value in ("enable", "disable", "automatic")
    return value.isdecimal() and int(value) > 0


def check_same(said: Iterable[Hints]) -> None:
    """Complain of ranks that say different things: they would wait for each other in vain."""
    one, *others = said
    for other in others:
        for key, mine, its in zip(Hints._fields, one, other, strict=True):
            if mine != its:
                words = f"the info's {key} is {mine or 'nothing'} and {its or 'nothing'} on different ranks."
                raise complaint(ERR_NOT_SAME, words)
