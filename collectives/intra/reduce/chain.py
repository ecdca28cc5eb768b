"""Reduce by a pipelined chain: segments of partial results follow each other along the ranks to the root.

The message is cut into n segments of at most `segment_bytes`. With v = rank - root (mod p), rank v receives segment k from
v+1 while it sends segment k-1 to v-1. It then combines segment k of its own operand, as left operand, with the received
segment. For a noncommutative op the chain ends at rank 0, which preserves rank order, and rank 0 sends the result to the
root.

    p = 4, n = 3   start    1st      2nd      3rd      4th      5th       (number of operands in each segment)
    v = 0          111      111      111      411      441      444
    v = 1          111      111      311      331      333
    v = 2          111      211      221      222
    v = 3          111

Rounds   n+p-2    Sent per rank   m bytes, the root none    Scratch   2 segments; the ends of the chain less
Time     (n+p-2) t_s + (m + (p-2) b) (t_w + c); b is the longest segment; plus t_s + m t_w if the op is not commutative
         and the root is not 0
Fits     any p; segment_bytes > 0; any op; noncommutative ops in rank order
Bits     depend on root
Best     long messages on few ranks: about m (t_w + c), near the lower bound once n is well above p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.reductions import combine, operand, ordered_top, send_to_root, sent_to_the_top, top_of
from collectives.patterns.segmented import SEGMENT_BYTES, chain_steps, chain_time, segments_of
from collectives.tools.blocks import load, required, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def _spares(v: int, p: int, *, in_place: bool) -> int:
    """Number of spare segments: two inside the chain; one at its end if the operand is in the result buffer."""
    if v == p - 1:
        return 0
    return 2 if v > 0 else int(in_place)


def schedule(case: Case) -> Iterator[Round]:
    p, top, pieces = case.p, top_of(case), segments_of(case)
    for step, hops in enumerate(chain_steps(case)):
        yield [
            Transfer((top - 1 - hop) % p, (top - 2 - hop) % p, nbytes, nbytes, pieces.start(step - hop) * case.itemsize)
            for hop, nbytes in hops
        ]
    if case.m and top != case.root:
        yield [Transfer(top, case.root, case.m)]


def scratch(case: Case, rank: int) -> int:
    top = top_of(case)
    at_top = rank == top != case.root
    in_place = rank == case.root == top and case.in_place
    segment = segments_of(case).size(0) * case.itemsize
    return case.m * at_top + _spares((rank - top) % case.p, case.p, in_place=in_place) * segment


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    moved = message(case.m, t_s, t_w) if top_of(case) != case.root else 0
    return chain_time(case, t_s, t_w) + moved


def closed_combined(case: Case) -> int:
    return case.m + (case.p - 2) * segments_of(case).size(0) * case.itemsize if case.p > 1 else 0


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=positive_segments_only,
    closed_sent=sent_to_the_top,
    closed_time=closed_time,
    closed_combined=closed_combined,
    in_order=True,
)
def reduce_chain(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: int = 0,
    segment_bytes: int = SEGMENT_BYTES,
    tag: int = 0,
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    own = result = operand(sendbuf, recvbuf, rank, root)
    top = ordered_top(root, commutative=op.Is_commutative())
    pieces = segments(own.size, own.itemsize, segment_bytes)
    n, v = pieces.p, (rank - top) % p
    if rank == root == top:
        result = required(recvbuf, "the root of a reduce")
    elif rank == top:
        result = spare_memory(own, own.size)
    if p == 1:
        load(result, sendbuf)
        return
    spares = [spare_memory(own, pieces.size(0)) for _ in range(_spares(v, p, in_place=own is result))]
    outgoing = incoming = None
    for k in range(n + 1):
        if v == p - 1:
            outgoing = pieces.block(own, k - 1) if k > 0 else None
        elif k == n:
            incoming = None
        else:
            incoming = spares[k % len(spares)][0 : pieces.size(k)] if spares else pieces.block(result, k)
        exchange(comm, outgoing, (rank - 1) % p, incoming, (rank + 1) % p, tag)
        if incoming is None:
            continue
        combine(op, pieces.block(own, k), incoming)
        if v > 0:
            outgoing = incoming
        elif spares:
            pieces.block(result, k)[0 : incoming.size] = incoming
    send_to_root(comm, result, recvbuf, top, root, tag)
