"""Exscan by a chain: every rank receives the prefix from its left neighbor, adds its operand and sends it to the right.

Rank r receives the result of ranks 0 .. r-1 from r-1, which is its own result, combines it with its operand in scratch
memory and sends that to r+1. Rank 0 sends its operand; its `recvbuf` is unchanged.

    p = 4     start   1st     2nd     3rd
    rank 0    .       .       .       .
    rank 1    .       0       0       0
    rank 2    .       .       01      01
    rank 3    .       .       .       012

Rounds   p-1    Sent per rank   m bytes, the last rank none    Scratch   m bytes; the ends of the chain none
Time     (p-1) (t_s + m t_w) + (p-2) m c
Fits     any p; any op, in rank order
Bits     depend on the operands only
Best     p = 2 or 3, and as a baseline: each operand is combined once
Source   folklore; Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI 2006, doi:10.1007/11846802_15,
         compare faster algorithms
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.reductions import combine
from collectives.tools.blocks import check_same_size, copy_of
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for r in range(case.p - 1):
            yield [Transfer(r, r + 1, case.m, case.m if r + 1 < case.p - 1 else 0)]


def scratch(case: Case, rank: int) -> int:
    return case.m if 0 < rank < case.p - 1 else 0


def closed_sent(case: Case, rank: int) -> int:
    return case.m if rank < case.p - 1 else 0


def closed_combined(case: Case) -> int:
    return max(0, case.p - 2) * case.m


@algorithm(
    schedule=schedule,
    scratch=scratch,
    closed_sent=closed_sent,
    closed_combined=closed_combined,
    in_order=True,
    closed_time=one_message_per_round(other_ranks),
)
def exscan_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the result of ranks 0 .. r-1 in `recvbuf` (unchanged on rank 0); if `sendbuf` is None, the call is in place."""
    p, rank = comm.Get_size(), comm.Get_rank()
    passed_on = recvbuf if sendbuf is None else sendbuf
    check_same_size(passed_on, recvbuf)
    if 0 < rank < p - 1:
        passed_on = copy_of(passed_on)
    if rank > 0:
        receive(comm, recvbuf, rank - 1, tag)
    if 0 < rank < p - 1:
        combine(op, recvbuf, passed_on)
    if rank < p - 1:
        send(comm, passed_on, rank + 1, tag)
