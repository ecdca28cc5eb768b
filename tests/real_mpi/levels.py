"""Under mpiexec: units of several levels and redundancy sets, compared with the emulator and with mpi4py's splits."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

import fakempi
from collectives import find
from collectives.chain.collect import addresses
from collectives.chain.derived_chains import Ring
from collectives.levels import Levels, redundancy_set

ALGORITHMS = ("best", "bitonic", "gather_scatter")
MACHINES: tuple[Any, ...] = (
    lambda rank: ("psu0", "node0"),  # a single node
    lambda rank: (f"psu{rank % 3}", f"node{rank}"),
    lambda rank: (b"x" * (rank % 2), rank % 4, f"node{rank * rank % 5}"),
    lambda rank: (max(0, rank - 2), 7),  # nodes of different sizes
)


def chains_and_sets(comm: Any, names: Any, algorithm: str) -> list[Any]:
    """The results of a rank: its chains, and its sets of 1 to 4 with the neighbors in a ring, or the error."""
    levels = Levels.of(comm, *names(comm.Get_rank()), split=find("split", algorithm, kind="split"), tag=30)
    results: list[Any] = [addresses(chain) for chain in (levels.whole, *levels.units)]
    for size in range(1, 5):
        try:
            one = redundancy_set(levels, size)
        except ValueError as refusal:
            results.append(str(refusal))
        else:
            ring = Ring.of(one.chain)
            results.append((one.index, one.sets, one.lost, addresses(one.chain), ring.left, ring.right))
    return results


def by_native_splits(comm: Any, names: Any) -> list[Any]:
    """The same chains, by numbers instead of names, which every rank here has for all."""
    paths = [names(rank) for rank in range(comm.Get_size())]
    results: list[Any] = []
    order = sorted(range(len(paths)), key=lambda rank: [(len(str(name)), name) for name in paths[rank]])
    for depth in range(len(paths[0]) + 1):
        colors = [path[:depth] for path in paths]
        part = comm.Split(colors.index(colors[comm.Get_rank()]), order.index(comm.Get_rank()))
        results.append(list(MPI.Group.Translate_ranks(part.Get_group(), None, comm.Get_group())))
        part.Free()
    return results


def try_levels(comm: Any) -> int:
    """Compare all machines and variants; return their number."""
    rank, size = comm.Get_rank(), comm.Get_size()
    for names in MACHINES:
        results = [chains_and_sets(comm, names, algorithm) for algorithm in ALGORITHMS]
        assert all(each == results[0] for each in results), results
        native = by_native_splits(comm, names)
        assert results[0][: len(native)] == native, results[0]
        gathered = comm.gather(results[0])
        if rank == 0:
            emulated = fakempi.run(chains_and_sets, size, names, ALGORITHMS[0]).returns
            assert gathered == emulated, (gathered, emulated)
    return len(MACHINES) * len(ALGORITHMS)
