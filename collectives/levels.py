"""Groups of several levels at once, and redundancy sets: for libraries that keep data when a part of the machine fails.

Everybody names the units that it lies in, from the largest to the smallest: its power supply, its switch, its node. All are
put in order by these names, so that the members of a unit, of whatever level, are neighbours. One sort, one exchange with
the neighbours and one double scan make the chains of all levels: no more messages than for one.

    levels = Levels.of(comm, "psu1", "switch3", "node7")       levels.units[0] is the chain of those on psu1

A redundancy set keeps what its members can restore of each other, so a failure should take few of them. All are dealt out,
in that order, like cards to as many players as there are sets. A unit of n processes gives each of g sets n/g of them,
rounded up or down, on all levels at once; no sets of that number can do with fewer.

    16 processes on 4 supplies, sets of 4      aaaabbbbccccdddd: every set gets a b c d
                                               aaaaabbbbbcccddd: set 0 gets a a b c, so losing supply a takes two of it

A process finds its neighbours in its set by one more double scan (`chain.shapes.every`). Memory is O(1) a level, and what
the split holds. Source: the failure groups of which Moody, Ahn, de Supinski, Exascale Algorithms for Generalized
MPI_Comm_split, EuroMPI 2011, say that fault-tolerance libraries need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Algorithm, DoesNotFit
from collectives.chain.chain import NOBODY, Chain, chain_of
from collectives.chain.collect import bcast, largest, pack, unpack
from collectives.chain.items import as_bytes, kind_of
from collectives.chain.meter import UNREAD, Meter, Work
from collectives.chain.regroup import swap_with_neighbours
from collectives.chain.scan import double_scan
from collectives.chain.shapes import every
from collectives.split import best
from collectives.tools.protocol import Comm

Name: TypeAlias = str | bytes | int
"""Of a unit. Shorter ones come first, so node2 is before node10."""


@dataclass(frozen=True)
class Levels:
    """One process's units: `whole` is everybody, unit by unit, and `units` are the parts of it that this process lies in."""

    whole: Chain
    names: tuple[Name, ...]
    units: tuple[Chain, ...]

    @classmethod
    def of(
        cls,
        group: Comm | Chain,
        *names: Name,
        split: Algorithm = best.ALGORITHM,
        work: Work = None,
        meter: Meter = UNREAD,
        tag: int = 0,
    ) -> Levels:
        """The units with these names, from the largest level to the smallest, as many levels on all ranks.

        A unit lies in one of the level above it: a `switch0` on psu0 and a `switch0` on psu1 are two. Within the smallest,
        processes have the order of their ranks.
        """
        chain = chain_of(group, tag)
        parts = [_written(name) for name in names]
        path, ends = b"".join(parts), list(accumulate(map(len, parts)))
        width, most, least = largest(chain, len(path), len(names), -len(names))
        if not most == -least > 0:
            words = f"rank {chain.rank} names units of {len(names)} levels, but all have to name as many, and one at least"
            raise ValueError(f"Levels: {words}: there are {-least} to {most}")
        whole: Chain = split.run(group, None, path, widths=(0, width), work=work, meter=meter, tag=tag)
        left, right = swap_with_neighbours(whole, path.ljust(width, b"\0"))
        first = [left is None or left[:end] != path[:end] for end in ends]
        last = [right is None or right[:end] != path[:end] for end in ends]
        ones = [1] * len(names)
        before, after = double_scan(
            whole,
            np.array([first, ones], np.int32),
            np.array([last, ones], np.int32),
            lambda a, b: np.where(b[0], b, a + b),  # a column a level: has its unit ended, and how many are counted
            lambda a, b: np.where(a[0], a, a + b),
        )
        units = tuple(
            Chain(
                whole.comm,
                int(before[1, i]) - 1,
                int(before[1, i]) + int(after[1, i]) - 1,
                whole.address,
                NOBODY if first[i] else whole.left,
                NOBODY if last[i] else whole.right,
                whole.tag,
            )
            for i in range(len(names))
        )
        return cls(whole, names, units)


@dataclass(frozen=True)
class RedundancySet:
    """One process's set as a chain, and which one of how many it is.

    `lost` has, for each level, the most members that one unit's failure takes of a set. With `chain.shapes.Ring.of(chain)`
    everybody has a neighbour to its right to keep a copy of its data: on another unit, where one is the most that is lost.
    """

    chain: Chain
    index: int
    sets: int
    lost: tuple[int, ...]


def redundancy_set(levels: Levels, size: int, *, losses: int = 1, level: int = 0) -> RedundancySet:
    """The own one of p // size sets, which have `size` members or more, and of which no two differ by more than one.

    Refused, on all ranks alike, if the failure of one unit of this level takes more than `losses` members of a set: then it
    does so for any sets of this size. On smaller levels no unit takes more, and on larger ones `lost` says what they take.
    """
    whole, p = levels.whole, levels.whole.size
    if not 1 <= size <= p or losses < 1:
        raise ValueError(f"redundancy_set: sets of {size} of {p} ranks, of which {losses} may be lost: there are none")
    if not -len(levels.units) <= level < len(levels.units):
        raise ValueError(f"redundancy_set: there is no level {level}, the ranks have named units of {len(levels.units)}")
    sets = p // size
    ranks = largest(whole, *(unit.size for unit in levels.units))
    lost = tuple(-(-each // sets) for each in ranks)
    if lost[level] > losses:
        # Some member of a largest unit tells all others its name.
        (member,) = largest(whole, whole.rank if levels.units[level].size == ranks[level] else -1)
        name = unpack(bcast(whole, pack(whole, levels.names[level]), member))
        fitting = p // -(-ranks[level] // losses)
        raise ValueError(
            f"redundancy_set: {name!r} has {ranks[level]} of {p} ranks, which make {sets} sets of {size} or more: with it "
            f"one of these loses {lost[level]} members, not {losses}; sets of {fitting} could be made"
        )
    return RedundancySet(every(whole, sets), whole.rank % sets, sets, lost)


def _written(name: Name) -> bytes:
    """A name as bytes that no other name begins with."""
    try:
        plain = as_bytes(name)
    except DoesNotFit:
        kinds = "a string, bytes or a whole number of 64 bits"
        raise TypeError(f"Levels: a unit cannot have the name {name!r}, which should be {kinds}") from None
    return bytes([kind_of(name).value]) + len(plain).to_bytes(4, "big") + plain
