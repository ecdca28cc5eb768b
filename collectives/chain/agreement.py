"""What two groups, each of them a chain, find out about each other: agree among themselves, let two speak, and tell all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from collectives.catalogue.schedule import Round, Transfer
from collectives.chain.chain import Chain
from collectives.chain.collect import bcast, largest
from collectives.chain.paper import scanning, telling

NUMBER = 8
"""Bytes of a number, and of a process's address."""

Way: TypeAlias = tuple[Any, int, int]
"""How a speaker reaches the other group's: communicator, rank and tag. Nobody else needs it."""


def agree(chain: Chain, number: int) -> int:
    """The largest number that anybody proposes."""
    return largest(chain, number)[0]


def exchanged(chain: Chain, words: Sequence[int], heard: int, *, speaker: int, way: Way) -> list[int]:
    """`heard` numbers from the other group's speaker, on all ranks; `words` of the own speaker go there."""
    news = np.zeros(heard, np.int64)
    if chain.rank == speaker:
        comm, other, tag = way
        comm.Sendrecv(np.array(words, np.int64), other, tag, news, other, tag)
    return [int(one) for one in bcast(chain, news, speaker)]


# -- on paper: group A has the ranks from 0 on, group B those after them; the first of each speaks --------------------


def agreeing(p: int, q: int) -> Iterator[Round]:
    """Both groups agree on a number each."""
    return _side_by_side(scanning(p, NUMBER), scanning(q, NUMBER), p)


def exchanging(p: int, q: int, from_a: int, from_b: int) -> Iterator[Round]:
    """The speakers exchange so many numbers, and tell the others."""
    yield [Transfer(0, p, NUMBER * from_a), Transfer(p, 0, NUMBER * from_b)]
    yield from _side_by_side(telling(p, NUMBER * from_b), telling(q, NUMBER * from_a), p)


def _side_by_side(a: Iterator[Round], b: Iterator[Round], p: int) -> Iterator[Round]:
    for ours, theirs in zip_longest(a, b, fillvalue=()):
        yield [*ours, *(Transfer(p + each.source, p + each.dest, each.nbytes) for each in theirs)]
