"""Agreement on new communicators, along chains and between two groups; `run_split.py` runs it under mpiexec."""

from __future__ import annotations

from typing import Any

from collectives import find
from collectives.chain.chain import NO_RANK
from collectives.chain.derived_chains import linked


def try_group(comm: Any) -> None:
    """The even ranks, from the last to the first; the others do nothing."""
    rank = comm.Get_rank()
    members = list(range(0, comm.Get_size(), 2))
    if rank in members:
        left = rank + 2 if rank + 2 in members else NO_RANK
        chain = linked(comm, left, rank - 2 if rank else NO_RANK, tag=5)
        assert find("create_group", "chain").run(chain, rank) == members[-1]


def try_groups(comm: Any, leader: int) -> None:
    """The first third and the others; leaders as close to `leader` as possible."""
    rank, size = comm.Get_rank(), comm.Get_size()
    p = (size + 2) // 3
    sides = [list(range(p)), list(range(p, size))]
    mine, others = sides if rank < p else sides[::-1]
    own, other = min(leader, len(mine) - 1), min(leader, len(others) - 1)
    local = comm.Split(int(rank < p), rank)
    result = find("create_intercomm", "chain").run(
        local, comm, mine, rank, leader=own, remote_leader=others[other], peer_tag=7, tag=9
    )
    assert result == (size - 1, others)
    inter = local.Create_intercomm(own, comm, others[other], 7)
    assert find("merge", "chain").run(inter, local, rank < p, rank, tag=9) == (size - 1, rank >= p)
    inter.Free()
    local.Free()


def try_creation(comm: Any) -> None:
    """Run everything; rank 0 prints a line."""
    try_group(comm)
    for leader in (0, 1, 2) if comm.Get_size() > 1 else ():
        try_groups(comm, leader)
    if comm.gather(1):
        print(f"p = {comm.Get_size()}: creation of communicators passed", flush=True)
