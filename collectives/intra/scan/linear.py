"""Scan by a chain: every rank combines the prefix from its left neighbor with its operand, and sends it to the right.

Rank r receives the result of ranks 0 .. r-1 from r-1, combines it as left operand with its own operand, and sends the
result, which is also the result of rank r, to r+1.

    p = 4     start   1st     2nd     3rd
    rank 0    0       0       0       0
    rank 1    1       01      01      01
    rank 2    2       2       012     012
    rank 3    3       3       3       0123

Rounds   p-1    Sent per rank   m bytes, the last rank none    Scratch   m bytes, rank 0 none
Time     (p-1) (t_s + m t_w + m c)
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
from collectives.tools.blocks import load, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for r in range(case.p - 1):
            yield [Transfer(r, r + 1, case.m, case.m)]


def scratch(case: Case, rank: int) -> int:
    return case.m if rank > 0 else 0


def closed_sent(case: Case, rank: int) -> int:
    return case.m if rank < case.p - 1 else 0


def closed_combined(case: Case) -> int:
    return (case.p - 1) * case.m


@algorithm(
    schedule=schedule,
    scratch=scratch,
    closed_sent=closed_sent,
    closed_combined=closed_combined,
    in_order=True,
    closed_time=one_message_per_round(other_ranks),
)
def scan_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the result of ranks 0 .. r in `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    if rank > 0:
        before = spare_memory(recvbuf, recvbuf.size)
        receive(comm, before, rank - 1, tag)
        combine(op, before, recvbuf)
    if rank < p - 1:
        send(comm, recvbuf, rank + 1, tag)
