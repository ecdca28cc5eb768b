"""Gatherv by ring: every rank forwards the blocks from its right neighbor to its left neighbor, toward the root.

With v = rank - root (mod p), rank v sends its own block to v-1 and then the blocks of v+1, v+2, ... as they arrive from
v+1; it receives the next block while it sends the previous one. All ranks must know the counts; empty blocks are not
sent.

    p = 4     start      1st        2nd        3rd         (the blocks that a rank will forward, and the root's blocks)
    v = 0     0...       01..       012.       0123
    v = 1     .1..       ..2.       ...3       ....
    v = 2     ..2.       ...3       ....       ....
    v = 3     ...3       ....       ....       ....

Rounds   p-1    Sent per rank   the blocks v .. p-1    Scratch   two blocks; the longest of even and odd v
Time     (p-1) (t_s + m t_w); for equal blocks of m bytes, otherwise computed from the schedule
Fits     any p; counts known to all
Best     rings of nodes; the total amount sent grows with the square of p
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, who attribute it to MPICH
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout, required, spare_memory
from collectives.tools.messages import exchange, receive
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    # Rank v sends block v + k in round k, and receives block v + 1 + k.
    p, layout, root = case.p, case.layout, case.root
    for k in range(p - 1):
        yield without_empty(
            Transfer((root + v) % p, (root + v - 1) % p, layout.size((root + v + k) % p) * case.itemsize)
            for v in range(1, p - k)
        )


def scratch(case: Case, rank: int) -> int:
    v = (rank - case.root) % case.p
    return sum(_room(case.layout, case.root, v)) * case.itemsize if v else 0


def closed_sent(case: Case, rank: int) -> int:
    v = (rank - case.root) % case.p
    return case.layout.around(rank, case.p - v) * case.itemsize if v else 0


def _room(layout: Layout, root: int, v: int) -> tuple[int, int]:
    """Sizes of the largest blocks of even and of odd v that rank v forwards."""
    even, odd = (
        max((layout.size((root + w) % layout.p) for w in range(v + 1, layout.p) if w % 2 == parity), default=0)
        for parity in (0, 1)
    )
    return even, odd


@algorithm(schedule=schedule, scratch=scratch, closed_sent=closed_sent)
def gatherv_ring(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int], *, root: int = 0, tag: int = 0
) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout, v = Layout.of_ranks(counts, p), (rank - root) % p
    if v == 0:
        recvbuf = required(recvbuf, "the root of a gather")
        layout.put(recvbuf, root, sendbuf)
        for w in range(1, p):
            receive(comm, layout.block(recvbuf, (root + w) % p), (root + 1) % p, tag)
        return
    sendbuf = outgoing = required(sendbuf, "a rank that sends its block")
    room = [spare_memory(sendbuf, size) for size in _room(layout, root, v)]
    left, right = (rank - 1) % p, (rank + 1) % p
    for w in range(v + 1, p + 1):
        incoming = room[w % 2][0 : layout.size((root + w) % p)] if w < p else None
        exchange(comm, outgoing, left, incoming, right, tag)
        outgoing = incoming if incoming is not None else outgoing
