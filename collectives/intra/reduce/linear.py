"""Reduce, linear: the root receives one operand after the other.

The root receives the operands of ranks p-1, p-2, ..., 0, one at a time, and combines each, as left operand, with its
partial result; its own operand is combined at its position in this order. All other ranks send their operand.

    p = 4     start   1st     2nd     3rd
    root 1    1       3       123     0123        (with the operand of rank 2 it also combines its own)
    rank 0    0       0       0       .
    rank 2    2       2       .       .
    rank 3    3       .       .       .

Rounds   p-1    Sent per rank   m bytes, the root none    Scratch   m bytes at the root; m more if in place
Time     (p-1) (t_s + m t_w + m c)
Fits     any p; any op, in rank order
Bits     depend on the operands only
Best     p = 2 or 3, and as a baseline: the order of operands is that of a loop, from the last to the first
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.reductions import combine, operand
from collectives.patterns.star import sent_up
from collectives.tools.blocks import copy_of, load, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def _receipts_in_front(p: int, root: int) -> int:
    """Number of operands that arrive when the root already has a partial result."""
    return p - 1 if root == p - 1 else p - 2


def schedule(case: Case) -> Iterator[Round]:
    p, root, m = case.p, case.root, case.m
    if m:
        for other in reversed(range(p)):
            if other != root:
                # The first operand to arrive is not combined; the root's own operand follows that of root + 1.
                vectors = (other < p - 1) + (other == root + 1)
                yield [Transfer(other, root, m, vectors * m)]


def scratch(case: Case, rank: int) -> int:
    if rank != case.root:
        return 0
    saved = case.m if case.in_place and case.root < case.p - 1 else 0
    return saved + (case.m if _receipts_in_front(case.p, case.root) else 0)


def closed_combined(case: Case) -> int:
    return (case.p - 1) * case.m


@algorithm(
    schedule=schedule,
    scratch=scratch,
    closed_sent=sent_up,
    closed_combined=closed_combined,
    in_order=True,
    closed_time=one_message_per_round(other_ranks),
)
def reduce_linear(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, op: Op, root: int = 0, tag: int = 0
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    p, rank, last = comm.Get_size(), comm.Get_rank(), comm.Get_size() - 1
    own = operand(sendbuf, recvbuf, rank, root)
    if rank != root:
        send(comm, own, root, tag)
        return
    held = required(recvbuf, "the root of a reduce")
    if root == last:
        load(held, sendbuf)
    else:
        own = copy_of(held) if sendbuf is None else sendbuf
        receive(comm, held, last, tag)
    spare = spare_memory(held, held.size if _receipts_in_front(p, root) else 0)
    for other in reversed(range(last)):
        if other == root:
            combine(op, own, held)
        else:
            receive(comm, spare, other, tag)
            combine(op, spare, held)
