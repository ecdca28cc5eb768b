"""Allgatherv by blocked ring: a ring in which long blocks travel in pieces, so that one long block does not delay all.

Rank i's data are cut into b_i = max(1, ceil(m_i / B)) blocks of at most B = `block_bytes` bytes, numbered consecutively
over all ranks, from s_i for rank i, b in total. B is a number or a rule of `block_sizes`. In round k rank i receives
block s_i - 1 - k from i-1 and sends block s_i + b_i - 1 - k to i+1 (mod b, i mod p), until the receiver has received
all blocks but its own. Partial blocks are sent at their actual size; empty blocks are not sent.

    p = 4, B = 1, counts 3, 1, 1, 1     blocks 012 | 3 | 4 | 5
              start     k = 0     k = 1     k = 2     k = 3     k = 4
    rank 0    012...    012..5    012.45    012345    012345    012345
    rank 1    ...3..    ..23..    .123..    0123..    0123.5    012345
    rank 2    ....4.    ...34.    ..234.    .1234.    01234.    012345
    rank 3    .....5    ....45    ...345    ..2345    .12345    012345

Rounds   at most b-1    Sent per rank   all blocks but those of r+1    Scratch   none
Time     at most (b-1) (t_s + B t_w); the exact time is computed from the schedule, or by a formula
         if all blocks are full: (b - min b_i) (t_s + B t_w);
         if all ranks have the same m: (p-1) (ceil(m/B) t_s + m t_w), equal to the ring for B >= m; and
         if one rank has all data: (n + p - 3) (t_s + B t_w) + t_s + e t_w with n > 1 blocks, the last of e bytes
Fits     any p; block_bytes > 0
Best     long data of very different sizes: a round costs one block, not the largest rank's data
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collectives.block_sizes import BLOCK_BYTES, BlockBytes, bytes_in, bytes_of, positive_blocks_only
from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.patterns.pipeline import PipelineSchedule, pipeline
from collectives.patterns.ring import all_but_right
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.numbers import ceil_div
from collectives.tools.protocol import Buffer, Comm


def pipeline_schedule(case: Case) -> PipelineSchedule:
    size = bytes_in(case, allgatherv_blocked_ring.parameter(case, "block_bytes"))
    return PipelineSchedule(_counts(case), max(1, size // case.itemsize), 1, case.itemsize)


def _counts(case: Case) -> list[int]:
    layout = case.layout
    return [layout.size(r) for r in range(case.p)]


def schedule(case: Case) -> Iterator[Round]:
    return pipeline_schedule(case).schedule()


def closed_rounds(case: Case) -> int:
    """A formula if every rank has data, because then no link is ever idle; otherwise the longest chain of the schedule."""
    counts = _counts(case)
    if not all(counts):
        return pipeline_schedule(case).longest_chain()
    longest = max(1, bytes_in(case, allgatherv_blocked_ring.parameter(case, "block_bytes")) // case.itemsize)
    blocks = [ceil_div(count, longest) for count in counts]
    return sum(blocks) - min(blocks)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    p, counts = case.p, _counts(case)
    longest = max(1, bytes_in(case, allgatherv_blocked_ring.parameter(case, "block_bytes")) // case.itemsize)
    whole = message(longest * case.itemsize, t_s, t_w)
    most, blocks = max(counts), [max(1, ceil_div(count, longest)) for count in counts]
    if p == 1 or not most:
        return 0
    if min(counts) == most:
        return (p - 1) * (blocks[0] * t_s + most * case.itemsize * t_w)
    if min(counts) and not any(count % longest for count in counts):
        return (sum(blocks) - min(blocks)) * whole
    if sum(counts) == most:
        n = max(blocks)
        partial = message((most - (n - 1) * longest) * case.itemsize, t_s, t_w)
        return (p - 1) * partial if n == 1 else (n + p - 3) * whole + partial
    return pipeline_schedule(case).time(t_s, t_w)


@algorithm(
    checks_itself=True,
    schedule=schedule,
    why_unsupported=positive_blocks_only,
    closed_rounds=closed_rounds,
    closed_sent=all_but_right,
    closed_time=closed_time,
)
def allgatherv_blocked_ring(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    block_bytes: BlockBytes = BLOCK_BYTES,
    tag: int = 0,
) -> None:
    """Gather blocks of any size to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank, itemsize = comm.Get_size(), comm.Get_rank(), recvbuf.itemsize
    Layout.of_ranks(counts, p).put(recvbuf, rank, sendbuf)
    size = bytes_of(block_bytes, [int(count) * itemsize for count in counts])
    allgatherv_blocked_ring.check(Case(p, parameters={"block_bytes": size}))
    pieces = pipeline(tuple(counts), max(1, size // itemsize), 1).pieces
    left, right = (rank - 1) % p, (rank + 1) % p
    start, stop = pieces.numbers.start(rank), pieces.numbers.start(rank + 1)
    to_receive, to_send = (pieces.total - pieces.numbers.size(r) for r in (rank, right))
    for k in range(max(to_receive, to_send)):
        incoming = recvbuf[pieces.where(start - 1 - k)] if k < to_receive else None
        outgoing = recvbuf[pieces.where(stop - 1 - k)] if k < to_send else None
        exchange(comm, outgoing, right, incoming, left, tag)
