"""Properties of a call on which the bits of floating-point reductions depend, for several algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collectives.catalogue.bits import ONLY_OPERANDS
from collectives.catalogue.bound import bound
from collectives.verification.bits import derive, order
from collectives.verification.cases import REDUCING
from collectives.verification.machine import Machine
from fakempi.apps.compare.sweep import Contender

MAX_RANKS = 8
"""The largest number of ranks for which the order of the operands is readable."""


class BitsRow(NamedTuple):
    """An algorithm: whether all ranks receive equal bits, what the bits depend on, and the order of the operands."""

    label: str
    ranks: str
    sources: str
    order: str


def is_reduction(kind: str, operation: str) -> bool:
    """Return whether an operation combines operands."""
    return operation in REDUCING and kind in ("intra", "inter")


def bits_rows(among: Sequence[Contender], machine: Machine, p: int, q: int) -> Iterator[BitsRow]:
    """Yield a row for each algorithm; the order is that of the first element on p ranks, or on groups of p and q."""
    for each in among:
        if each.algorithm is not None:
            algorithm = bound(each.algorithm, each.parameters)
            bits = derive(algorithm, machine).bits
            ranks = {None: "", True: "equal", False: "differ"}[bits.equal]
            shown = order(algorithm, machine, p, q) or "does not fit"
            yield BitsRow(each.label, ranks, ", ".join(bits.sources) or ONLY_OPERANDS, shown)
