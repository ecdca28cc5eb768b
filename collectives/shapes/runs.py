"""Allgather by growing runs: the common text of Bruck's algorithm and of the circulant graph.

Rank r holds a run of blocks that starts with its own, r, r+1, ... (mod p). With s blocks held, it receives the first
blocks of rank r+s, which continue its run, and sends its own first blocks to r-s. A list of skips from 1 up to p,
none more than twice the one before, says how long the run is after each round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from collectives.catalogue.algorithm import Case, Course
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout
from collectives.tools.blocks import scratch as new_scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm


def gather_runs(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, skips: Sequence[int], tag: int
) -> None:
    """Fill `recvbuf` with the blocks of all ranks."""
    p, rank = comm.Get_size(), comm.Get_rank()
    total = layout.size(0, p)
    layout.put(recvbuf, rank, sendbuf)
    # The run of rank 0 starts with block 0: it is gathered where it belongs. The others turn theirs at the end.
    run = recvbuf if rank == 0 else new_scratch(recvbuf, total)
    if rank > 0:
        run[0 : layout.size(rank)] = layout.block(recvbuf, rank)
    for held, after in pairwise(skips):
        outgoing = run[0 : layout.around(rank, after - held)]
        incoming = run[layout.around(rank, held) : layout.around(rank, after)]
        exchange(comm, outgoing, (rank - held) % p, incoming, (rank + held) % p, tag)
    if rank > 0:
        tail = layout.size(rank, p)
        recvbuf[layout.start(rank) : total] = run[0:tail]
        recvbuf[0 : layout.start(rank)] = run[tail:total]


def growing(skips: Callable[[int], Sequence[int]]) -> Course:
    """What `gather_runs` claims for blocks of any size."""

    def schedule(case: Case) -> Iterator[Round]:
        p, layout = case.p, case.layout
        for held, after in pairwise(skips(p)):
            sizes = [(r, layout.around(r, after - held) * case.itemsize) for r in range(p)]
            yield without_empty(Transfer(r, (r - held) % p, nbytes) for r, nbytes in sizes)

    def scratch(case: Case, rank: int) -> int:
        return case.layout.size(0, case.p) * case.itemsize if rank > 0 else 0

    return Course(schedule=schedule, scratch=scratch)


def doubling_skips(p: int) -> list[int]:
    """Bruck's skips.

    >>> doubling_skips(6), doubling_skips(8), doubling_skips(1)
    ([1, 2, 4, 6], [1, 2, 4, 8], [1])
    """
    skips = [1]
    while skips[-1] < p:
        skips.append(min(2 * skips[-1], p))
    return skips
