"""Scan by recursive doubling: groups of ranks double, and what comes from the left goes in front of the prefix.

Rank r keeps the combination of its group, at first itself, and its prefix. In round k = 0 .. ceil(log2 p) - 1 it swaps
the group's for that of the rank that differs in bit k, if there is one; what came from the left goes in front of the
group's and of the prefix, what came from the right behind the group's (`shapes.prefix`).

    p = 4     start      k = 0      k = 1               (the prefix, and the group's while it is needed)
    rank 0    0   0      0   01     0
    rank 1    1   1      01  01     01
    rank 2    2   2      2   23     012
    rank 3    3   3      23  23     0123

Rounds   ceil(log2 p)    Sent per rank   at most m ceil(log2 p) bytes    Scratch   2 m bytes
Time     d (t_s + m t_w) + (2d - 1) m c; d = ceil(log2 p); where p is not a power of two and combining is not free,
         by the schedule's recurrence, exact
Fits     any p; any op, in rank order
Best     short messages: fewest rounds
Source   folklore, the hypercube prefix of the textbooks; Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI,
         EuroPVM/MPI 2006, doi:10.1007/11846802_15, compare others
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.prefix import prefix_claims, prefixes
from collectives.tools.blocks import load
from collectives.tools.protocol import Buffer, Comm, Op


def scan_recursive_doubling(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the combination of ranks 0 .. r in `recvbuf`; `sendbuf` None means that the operand is there."""
    load(recvbuf, sendbuf)
    prefixes(comm, recvbuf, recvbuf, op, tag, inclusive=True)


ALGORITHM = Algorithm(
    operation="scan",
    name="recursive_doubling",
    run=scan_recursive_doubling,
    in_order=True,
    **prefix_claims(inclusive=True),
)
