"""Groups on several levels of a machine's hierarchy, and redundancy sets for fault-tolerance libraries.

Every process names the units that contain it, from the largest to the smallest: power supply, switch, node. The processes
are sorted by these names, so that the members of a unit on any level are consecutive. One sort, one exchange with the
neighbors and one double scan make the chains of all levels, with the same number of messages as for one level.

    levels = Levels.of(comm, "psu1", "switch3", "node7")       levels.units[0] is the chain of the processes on psu1

The members of a redundancy set can restore each other's data, so a failure should affect few members of a set. The sorted
processes are assigned to the sets round robin. Each of g sets gets n/g processes, rounded up or down, of a unit of n
processes, on all levels; no other assignment to g sets has a smaller maximum.

    16 processes on 4 supplies, sets of 4      aaaabbbbccccdddd: every set gets a b c d
                                               aaaaabbbbbcccddd: set 0 gets a a b c, so it loses two if supply a fails

A process finds its neighbors in its set by another double scan (`every_nth`). Memory is O(1) per level, plus the
memory of the split. Source: Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011,
which describes the failure groups that fault-tolerance libraries need.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Algorithm, UnsupportedCaseError
from collectives.chain.chain import NO_RANK, Chain, chain_of
from collectives.chain.collect import bcast, largest, pack, unpack
from collectives.chain.derived_chains import every_nth
from collectives.chain.items import as_bytes, kind_of
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.regroup import swap_with_neighbors
from collectives.chain.scan import double_scan
from collectives.split import best
from collectives.tools.protocol import Comm

Name: TypeAlias = str | bytes | int
"""The name of a unit. Shorter names sort first: node2 before node10."""


@dataclass(frozen=True)
class Levels:
    """The units of one process: `whole` is the chain of all processes, `units` are the chains of this process's units."""

    whole: Chain
    names: tuple[Name, ...]
    units: tuple[Chain, ...]

    @classmethod
    def of(
        cls,
        group: Comm | Chain,
        *names: Name,
        split: Algorithm = best.split_best,
        work: WorkCallback = None,
        meter: ItemMeter = NO_METER,
        tag: int = 0,
    ) -> Levels:
        """Return the units with these names, from the largest level to the smallest; all ranks pass the same number.

        A unit is part of a unit of the next larger level: `switch0` on psu0 and `switch0` on psu1 are two units. Within
        the smallest unit, processes are in rank order.
        """
        chain = chain_of(group, tag)
        parts = [_encode(name) for name in names]
        path, ends = b"".join(parts), list(accumulate(map(len, parts)))
        width, maximum, minimum = largest(chain, len(path), len(names), -len(names))
        if not maximum == -minimum > 0:
            raise ValueError(
                f"Levels: rank {chain.rank} passes {len(names)} names, and the ranks pass {-minimum} to {maximum}; "
                "all ranks must pass the same number of names, at least 1"
            )
        whole: Chain = split.run(group, None, path, widths=(0, width), work=work, meter=meter, tag=tag)
        left, right = swap_with_neighbors(whole, path.ljust(width, b"\0"))
        first = [left is None or left[:end] != path[:end] for end in ends]
        last = [right is None or right[:end] != path[:end] for end in ends]
        ones = [1] * len(names)
        before, after = double_scan(
            whole,
            np.array([first, ones], np.int32),
            np.array([last, ones], np.int32),
            lambda a, b: np.where(b[0], b, a + b),  # one column per level: whether the unit has ended, and the count
            lambda a, b: np.where(a[0], a, a + b),
        )
        units = tuple(
            Chain(
                whole.comm,
                int(before[1, i]) - 1,
                int(before[1, i]) + int(after[1, i]) - 1,
                whole.address,
                NO_RANK if first[i] else whole.left,
                NO_RANK if last[i] else whole.right,
                whole.tag,
            )
            for i in range(len(names))
        )
        return cls(whole, names, units)


@dataclass(frozen=True)
class RedundancySet:
    """The redundancy set of one process as a chain, its index, and the number of sets.

    `lost` has, for each level, the largest number of members that a set loses if one unit fails. In a
    `Ring` of the chain (`chain.derived_chains`) every process has a right neighbor that can store a copy of its data; the
    neighbor is on another unit if `lost` is 1 for that level.
    """

    chain: Chain
    index: int
    sets: int
    lost: tuple[int, ...]


def redundancy_set(levels: Levels, size: int, *, losses: int = 1, level: int = 0) -> RedundancySet:
    """Return this process's redundancy set: one of p // size sets of `size` or more members, which differ by at most 1.

    Raises ValueError on all ranks if the failure of one unit of this level would affect more than `losses` members of a
    set; no other assignment to sets of this size avoids that. The failure of a unit of a smaller level affects at most the
    same number of members; see `lost` for larger levels.
    """
    whole, p = levels.whole, levels.whole.size
    if not 1 <= size <= p or losses < 1:
        raise ValueError(
            f"redundancy_set: size = {size} and losses = {losses} are invalid: size must be 1 to {p} (the number of ranks), "
            "and losses at least 1"
        )
    if not -len(levels.units) <= level < len(levels.units):
        raise ValueError(f"redundancy_set: level {level} does not exist: the number of levels is {len(levels.units)}")
    sets = p // size
    ranks = largest(whole, *(unit.size for unit in levels.units))
    lost = tuple(-(-count // sets) for count in ranks)
    if lost[level] > losses:
        # A member of a largest unit broadcasts the unit's name for the message.
        (member,) = largest(whole, whole.rank if levels.units[level].size == ranks[level] else -1)
        name = unpack(bcast(whole, pack(whole, levels.names[level]), member))
        possible = p // -(-ranks[level] // losses)
        raise ValueError(
            f"redundancy_set: {name!r} has {ranks[level]} of {p} ranks, so if it fails, one of the {sets} sets of {size} or "
            f"more loses {lost[level]} members, but losses = {losses}; the largest possible size is {possible}"
        )
    return RedundancySet(every_nth(whole, sets), whole.rank % sets, sets, lost)


def _encode(name: Name) -> bytes:
    """Return a name as bytes that are no prefix of another encoded name."""
    try:
        plain = as_bytes(name)
    except UnsupportedCaseError:
        raise TypeError(f"Levels: invalid unit name {name!r}: use a string, bytes or an integer of 64 bits") from None
    return bytes([kind_of(name).value]) + len(plain).to_bytes(4, "big") + plain
