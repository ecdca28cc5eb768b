"""Under mpiexec: `collectives.levels`, and every split, compared with sorting and, for integers, with mpi4py's Split.

mpiexec -n 5 python tests/real_mpi/run_split.py 1 2 5 (on 1, 2 and 5 processes; also the creation of communicators)
"""

from __future__ import annotations

import sys
from typing import Any

from mpi4py import MPI

from collectives import Algorithm
from collectives.chain.collect import addresses, to_communicator
from collectives.split import UNDEFINED
from tests.collectives.split.harness import expected, splits, view_of
from tests.real_mpi.levels import try_levels
from tests.real_mpi.processes import finish, on_parts
from tests.real_mpi.run_comm_creation import try_creation


def by_length(a: Any, b: Any) -> int:
    """Compare two strings or lists by length."""
    return len(a) - len(b)


def cases(size: int) -> list[tuple[list[Any], list[Any], Any]]:
    """Colors, keys and comparison."""
    ranks = range(size)
    undefined: list[Any] = [None] * size
    return [
        ([rank % 3 for rank in ranks], [-rank % 4 for rank in ranks], None),
        ([rank // 2 * (1 << 40) for rank in ranks], undefined, None),
        (undefined, [-rank for rank in ranks], None),
        ([UNDEFINED if rank % 3 == 1 else rank % 2 for rank in ranks], [rank * 5 % 7 for rank in ranks], None),
        ([f"node{rank // 2}" * (1 + rank // 2) for rank in ranks], ["ba"[rank % 2] for rank in ranks], None),
        ([bytes(rank // 3) for rank in ranks], undefined, None),
        (["x" * (rank % 2) for rank in ranks], [[0] * (size - rank) for rank in ranks], (by_length, by_length)),
    ]


def compare_native(comm: Any, chain: Any, color: Any, key: Any) -> None:
    """The result of MPI's split, and the chain converted to a communicator."""
    native = comm.Split(MPI.UNDEFINED if color == UNDEFINED else color % (1 << 20), 0 if key is None else key)
    if chain is None:
        assert native == MPI.COMM_NULL
        return
    assert (native.Get_rank(), native.Get_size()) == (chain.rank, chain.size)
    ranks = MPI.Group.Translate_ranks(native.Get_group(), None, comm.Get_group())
    assert list(ranks) == addresses(chain)
    made = to_communicator(chain, lambda members: comm.Create_group(comm.Get_group().Incl(members)))
    assert MPI.Comm.Compare(made, native) == MPI.CONGRUENT
    made.Free()
    native.Free()


def try_split(comm: Any, algorithm: Algorithm, colors: list[Any], keys: list[Any], compare: Any) -> None:
    """One split, compared."""
    rank = comm.Get_rank()
    chain = algorithm.run(comm, colors[rank], keys[rank], compare=compare, tag=20)
    assert view_of(chain) == expected(colors, keys, compare)[rank], f"{algorithm!r} on rank {rank}: {chain!r}"
    if compare is None and isinstance(colors[0], int) and max(c for c in colors if c != UNDEFINED) < 1 << 20:
        compare_native(comm, chain, colors[rank], keys[rank])


def main(comm: Any) -> int:
    """Run everything and count."""
    passed = 0
    for colors, keys, compare in cases(comm.Get_size()):
        for algorithm in splits(colors, keys, compare):
            try_split(comm, algorithm, colors, keys, compare)
            passed += 1
    passed += try_levels(comm)
    everywhere = comm.allgather(passed)
    if comm.Get_rank() == 0:
        print(f"p = {comm.Get_size()}: {min(everywhere)} passed", flush=True)
    try_creation(comm)
    return 0


if __name__ == "__main__":
    finish(lambda: on_parts(map(int, sys.argv[1:]), main))
