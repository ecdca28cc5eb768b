"""Under mpiexec: units of several levels and redundancy sets, as on the emulator, and as mpi4py's own splits make them."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

import fakempi
from collectives import find
from collectives.chain.collect import addresses
from collectives.chain.shapes import Ring
from collectives.levels import Levels, redundancy_set

WAYS = ("best", "bitonic", "gather_scatter")
MACHINES: tuple[Any, ...] = (
    lambda rank: ("psu0", "node0"),  # one node alone
    lambda rank: (f"psu{rank % 3}", f"node{rank}"),
    lambda rank: (b"x" * (rank % 2), rank % 4, f"node{rank * rank % 5}"),
    lambda rank: (max(0, rank - 2), 7),  # unequal ones
)


def found(comm: Any, names: Any, way: str) -> list[Any]:
    """All that a rank learns: its chains, and its sets of 1 to 4 with the neighbours in a ring, or why there are none."""
    levels = Levels.of(comm, *names(comm.Get_rank()), split=find("split", way, kind="split"), tag=30)
    learnt: list[Any] = [addresses(chain) for chain in (levels.whole, *levels.units)]
    for size in range(1, 5):
        try:
            one = redundancy_set(levels, size)
        except ValueError as refusal:
            learnt.append(str(refusal))
        else:
            ring = Ring.of(one.chain)
            learnt.append((one.index, one.sets, one.lost, addresses(one.chain), ring.left, ring.right))
    return learnt


def by_native_splits(comm: Any, names: Any) -> list[Any]:
    """The same chains, by numbers in place of names, which everybody here has of all."""
    paths = [names(rank) for rank in range(comm.Get_size())]
    learnt: list[Any] = []
    order = sorted(range(len(paths)), key=lambda rank: [(len(str(name)), name) for name in paths[rank]])
    for depth in range(len(paths[0]) + 1):
        colours = [path[:depth] for path in paths]
        part = comm.Split(colours.index(colours[comm.Get_rank()]), order.index(comm.Get_rank()))
        learnt.append(list(MPI.Group.Translate_ranks(part.Get_group(), None, comm.Get_group())))
        part.Free()
    return learnt


def try_levels(comm: Any) -> int:
    """All machines, in all ways, compared; how many that is."""
    rank, size = comm.Get_rank(), comm.Get_size()
    for names in MACHINES:
        learnt = [found(comm, names, way) for way in WAYS]
        assert all(each == learnt[0] for each in learnt), learnt
        native = by_native_splits(comm, names)
        assert learnt[0][: len(native)] == native, learnt[0]
        everybody = comm.gather(learnt[0])
        if rank == 0:
            emulated = fakempi.run(found, size, names, WAYS[0]).returns
            assert everybody == emulated, (everybody, emulated)
    return len(MACHINES) * len(WAYS)
