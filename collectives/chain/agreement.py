"""Agreement within a group and between two groups, each of which is a chain: numbers, and exchanges of the two leaders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from collectives.catalogue.schedule import Round, Transfer
from collectives.chain.chain import Chain
from collectives.chain.collect import bcast, largest
from collectives.chain.schedules import bcast_rounds, scan_rounds

NUMBER = 8
"""Bytes of a number, and of a process's address."""

Route: TypeAlias = tuple[Any, int, int]
"""Communicator, rank and tag with which a leader reaches the other leader. Other ranks ignore it."""


def agree(chain: Chain, number: int) -> int:
    """Return the largest number that any rank proposes."""
    return largest(chain, number)[0]


def exchange_with_other_group(chain: Chain, numbers: Sequence[int], count: int, *, leader: int, route: Route) -> list[int]:
    """Send the leader's `numbers` to the other group, and return `count` numbers of its leader on all ranks."""
    received = np.zeros(count, np.int64)
    if chain.rank == leader:
        comm, other, tag = route
        comm.Sendrecv(np.array(numbers, np.int64), other, tag, received, other, tag)
    return [int(number) for number in bcast(chain, received, leader)]


# -- schedules: group A has ranks 0 .. p-1, group B has ranks p .. p+q-1; rank 0 of each group is its leader ----------


def agreement_rounds(p: int, q: int) -> Iterator[Round]:
    """Rounds in which both groups agree on a number each."""
    return _in_parallel(scan_rounds(p, NUMBER), scan_rounds(q, NUMBER), p)


def exchange_rounds(p: int, q: int, from_a: int, from_b: int) -> Iterator[Round]:
    """Rounds in which the leaders exchange numbers and broadcast them in their groups."""
    yield [Transfer(0, p, NUMBER * from_a), Transfer(p, 0, NUMBER * from_b)]
    yield from _in_parallel(bcast_rounds(p, NUMBER * from_b), bcast_rounds(q, NUMBER * from_a), p)


def _in_parallel(a: Iterator[Round], b: Iterator[Round], p: int) -> Iterator[Round]:
    for of_a, of_b in zip_longest(a, b, fillvalue=()):
        yield [*of_a, *(Transfer(p + transfer.source, p + transfer.dest, transfer.nbytes) for transfer in of_b)]
