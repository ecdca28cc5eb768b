"""Allgatherv by blocked ring: as the ring, but long blocks travel in pieces, so that one long block does not stop all.

Rank i's data are b_i = max(1, ceil(m_i / B)) blocks of at most B = `block_bytes`, numbered through all ranks in order
from s_i on, b in all. In round k rank i receives block s_i - 1 - k from i-1 and sends block s_i + b_i - 1 - k to i+1
(mod b, i mod p), until the receiver has all but its own. Partial blocks travel at their size, empty ones not at all.

    p = 4, B = 1, counts 3, 1, 1, 1     blocks 012 | 3 | 4 | 5
              start     k = 0     k = 1     k = 2     k = 3     k = 4
    rank 0    012...    012..5    012.45    012345    012345    012345
    rank 1    ...3..    ..23..    .123..    0123..    0123.5    012345
    rank 2    ....4.    ...34.    ..234.    .1234.    01234.    012345
    rank 3    .....5    ....45    ...345    ..2345    .12345    012345

Rounds   at most b-1    Sent per rank   all blocks but those of r+1    Scratch   none
Time     at most (b-1) (t_s + B t_w); by the schedule's recurrence, exact
Fits     any p; block_bytes > 0
Best     long data of very different sizes: every round costs one block, not the longest rank's all
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collectives.algorithm import Algorithm, Case
from collectives.blocks import Layout
from collectives.messages import exchange
from collectives.numbers import ceil_div
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Transfer, without_empty

BLOCK_BYTES = 65536


def allgatherv_blocked_ring(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    block_bytes: int = BLOCK_BYTES,
    tag: int = 0,
) -> None:
    """Gather blocks of any size to all ranks; `sendbuf` None means that the own block is in `recvbuf` already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, parameters={"block_bytes": block_bytes}))
    layout = Layout.of_ranks(counts, p)
    layout.put(recvbuf, rank, sendbuf)
    pieces = _Pieces(layout, recvbuf.itemsize, block_bytes)
    left, right = (rank - 1) % p, (rank + 1) % p
    start, stop = pieces.numbers.start(rank), pieces.numbers.start(rank + 1)
    for k in range(pieces.total - min(pieces.numbers.size(rank), pieces.numbers.size(right))):
        receives = k < pieces.total - pieces.numbers.size(rank)
        sends = k < pieces.total - pieces.numbers.size(right)
        incoming = recvbuf[pieces.where(start - 1 - k)] if receives else None
        outgoing = recvbuf[pieces.where(stop - 1 - k)] if sends else None
        exchange(comm, outgoing, right, incoming, left, tag)


class _Pieces:
    """All ranks' data in blocks: which numbers are whose, and where a block lies."""

    def __init__(self, layout: Layout, itemsize: int, block_bytes: int) -> None:
        self.longest = max(1, block_bytes // itemsize)
        self.layout = layout
        self.numbers = Layout.of([max(1, ceil_div(layout.size(r), self.longest)) for r in range(layout.p)])
        self.total = self.numbers.start(layout.p)

    def where(self, block: int) -> slice:
        """The elements of a block, numbers modulo b."""
        block %= self.total
        owner = self.numbers.at(block)
        start = self.layout.start(owner) + (block - self.numbers.start(owner)) * self.longest
        return slice(start, min(start + self.longest, self.layout.start(owner + 1)))

    def size(self, block: int) -> int:
        """Elements of a block."""
        where = self.where(block)
        return int(where.stop - where.start)


def schedule(case: Case) -> Iterator[Round]:
    p = case.p
    pieces = _Pieces(case.layout, case.itemsize, ALGORITHM.parameter(case, "block_bytes"))
    sizes = [pieces.size(block) * case.itemsize for block in range(pieces.total)]
    ends = [(r, (r + 1) % p, pieces.numbers.start(r + 1)) for r in range(p)]
    for k in range(pieces.total - 1 if p > 1 else 0):
        yield without_empty(
            Transfer(r, right, sizes[(stop - 1 - k) % pieces.total])
            for r, right, stop in ends
            if k < pieces.total - pieces.numbers.size(right)
        )


def fits(case: Case) -> str | None:
    size = case.parameters.get("block_bytes", 1)
    return None if size > 0 else f"block_bytes = {size} is not positive"


def closed_sent(case: Case, rank: int) -> int:
    layout = case.layout
    return (layout.size(0, case.p) - layout.size((rank + 1) % case.p)) * case.itemsize


ALGORITHM = Algorithm(
    operation="allgatherv",
    name="blocked_ring",
    run=allgatherv_blocked_ring,
    schedule=schedule,
    fits=fits,
    closed_sent=closed_sent,
    parameters={"block_bytes": BLOCK_BYTES},
)
