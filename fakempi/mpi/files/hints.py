"""Info hints for collective accesses: the number of aggregators, their memory, or no aggregation.

The keys are those that MPI reserves, and ROMIO's. Invalid values are ignored, as MPI requires.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_INFO, ERR_NOT_SAME
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.mpi_errors import mpi_error, shown


class Hints(NamedTuple):
    """The hints by key; an empty string if not given."""

    cb_nodes: str = ""
    cb_buffer_size: str = ""
    romio_cb_read: str = ""
    romio_cb_write: str = ""

    def updated(self, info: Info) -> Hints:
        """Return the hints updated by an info."""
        if info is not None and not isinstance(info, Info):
            raise mpi_error(ERR_INFO, f"info is {shown(info)}, not an Info: use MPI.Info.Create().", MPITypeError)
        given = {key: value for key, value in (info or {}).items() if key in self._fields and _is_valid(key, value)}
        return self._replace(**given)


def _is_valid(key: str, value: str) -> bool:
    if key.startswith("romio"):
        return value in ("enable", "disable", "automatic")
    return value.isdecimal() and int(value) > 0


def check_same(given: Iterable[Hints]) -> None:
    """Raise an error if hints differ between ranks, which would deadlock."""
    first, *others = given
    for other in others:
        for key, mine, theirs in zip(Hints._fields, first, other, strict=True):
            if mine != theirs:
                sentence = f"the info's {key} is {mine or 'nothing'} and {theirs or 'nothing'} on different ranks."
                raise mpi_error(ERR_NOT_SAME, sentence)
