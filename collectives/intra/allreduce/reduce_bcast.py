"""Allreduce by reduce and broadcast: rank 0 computes the result and broadcasts it.

The algorithm `reduce` leaves the result on rank 0, which broadcasts it by the algorithm `bcast`. All ranks therefore receive
the same result, combined in the order that `reduce` uses.

    p = 4     start   reduced   broadcast       (both binomial: two rounds each)
    rank 0    0       0123      0123
    rank 1    1       1         0123
    rank 2    2       2         0123
    rank 3    3       3         0123

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts
Time     sum of both parts; both binomial: ceil(log2 p) (2 (t_s + m t_w) + m c)
Fits     any p; cases that both parts support
Bits     equal on all ranks; depend on the operands only
Best     as a baseline, and where both parts are fast on the machine
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from dataclasses import replace

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.composite import AlgorithmCase, sequential_claims
from collectives.catalogue.declaration import algorithm
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import check_same_size
from collectives.tools.protocol import Buffer, Comm, Op


def parts(case: Case) -> list[AlgorithmCase]:
    reduce, bcast = allreduce_reduce_bcast.parameter(case, "reduce"), allreduce_reduce_bcast.parameter(case, "bcast")
    return [(reduce, replace(case, root=0, parameters={})), (bcast, Case(case.p, case.m, itemsize=case.itemsize))]


@algorithm(in_order=True, **sequential_claims(parts))
def allreduce_reduce_bcast(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = reduce_binomial,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    if comm.Get_rank() == 0:
        reduce.run(comm, sendbuf, recvbuf, op=op, root=0, tag=tag)
    else:
        own = recvbuf if sendbuf is None else sendbuf
        check_same_size(own, recvbuf)
        reduce.run(comm, own, None, op=op, root=0, tag=tag)
    bcast.run(comm, recvbuf, root=0, tag=tag)
