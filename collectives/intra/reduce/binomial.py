"""Reduce by a binomial tree: neighbors combine their operands, then pairs combine theirs, and so on up to the root.

With v = rank - root (mod p), rank v receives the partial results of v + 1, v + 2, v + 4, ... below its lowest bit 2^k,
where these exist, combines each with its own, and sends the result of v .. v + 2^k - 1 to v - 2^k. For a noncommutative
op the tree is that of root 0, which preserves rank order, and rank 0 sends the result to the root.

    p = 4     start   1st     2nd
    v = 0     0       01      0123
    v = 1     1       .       .
    v = 2     2       23      .
    v = 3     3       .       .

Rounds   ceil(log2 p)    Sent per rank   m bytes, the root none    Scratch   2 m bytes; leaves none, the root m
Time     ceil(log2 p) (t_s + m t_w + m c); plus t_s + m t_w if the op is not commutative and the root is not 0
Fits     any p; any op, in rank order
Bits     depend on root
Best     short messages: no reduce has fewer rounds
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.reductions import combine_in_order, operand, ordered_top, send_to_root, sent_to_the_top, top_of
from collectives.patterns.trees import children, level, parent
from collectives.tools.blocks import copy_of, load, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    p, m, top = case.p, case.m, top_of(case)
    if m:
        for k in range(ceil_log2(p)):
            yield [Transfer((top + v) % p, (top + parent(v)) % p, m, m) for v in level(k, p)]
        if top != case.root:
            yield [Transfer(top, case.root, m)]


def scratch(case: Case, rank: int) -> int:
    top = top_of(case)
    if not children((rank - top) % case.p, case.p):
        return 0
    return case.m if rank == case.root == top else 2 * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return (ceil_log2(case.p) + (top_of(case) != case.root)) * message(case.m, t_s, t_w)


def closed_combined(case: Case) -> int:
    return ceil_log2(case.p) * case.m


@algorithm(
    schedule=schedule,
    scratch=scratch,
    closed_sent=sent_to_the_top,
    closed_time=closed_time,
    closed_combined=closed_combined,
    in_order=True,
)
def reduce_binomial(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, op: Op, root: int = 0, tag: int = 0
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    held = operand(sendbuf, recvbuf, rank, root)
    top = ordered_top(root, commutative=op.Is_commutative())
    v = (rank - top) % p
    below = children(v, p)
    if rank == root == top:
        held = required(recvbuf, "the root of a reduce")
        load(held, sendbuf)
    elif below:
        held = copy_of(held)
    if below:
        spare = spare_memory(held, held.size)
        for child in below:
            receive(comm, spare, (top + child) % p, tag)
            combine_in_order(op, held, spare, other_is_left=False)
    if v > 0:
        send(comm, held, (top + parent(v)) % p, tag)
    send_to_root(comm, held, recvbuf, top, root, tag)
