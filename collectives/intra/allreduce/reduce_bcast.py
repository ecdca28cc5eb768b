"""Allreduce by reduce and broadcast: rank 0 gets the combination and sends it to everybody.

The algorithm `reduce` leaves the combination on rank 0, which broadcasts it by the algorithm `bcast`: so all ranks get
the same result, in the order that `reduce` keeps to.

    p = 4     start   reduced   broadcast       (both binomial: two rounds each)
    rank 0    0       0123      0123
    rank 1    1       1         0123
    rank 2    2       2         0123
    rank 3    3       3         0123

Rounds   those of both    Sent per rank   what both send    Scratch   what both use
Time     the sum of both; both binomial: ceil(log2 p) (2 (t_s + m t_w) + m c)
Fits     what both parts fit
Best     as a yardstick, and where both parts are quick for the machine at hand
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from dataclasses import replace

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.composite import (
    Part,
    one_after_the_other,
)
from collectives.intra.bcast import binomial as bcast_binomial
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.tools.blocks import check_same_size
from collectives.tools.protocol import Buffer, Comm, Op

REDUCE, BCAST = reduce_binomial.ALGORITHM, bcast_binomial.ALGORITHM


def allreduce_reduce_bcast(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Leave the combination in everybody's `recvbuf`; `sendbuf` None means that the operand is there."""
    ALGORITHM.check(
        Case(comm.Get_size(), commutative=op.Is_commutative(), parameters={"reduce": reduce, "bcast": bcast})
    )
    if comm.Get_rank() == 0:
        reduce.run(comm, sendbuf, recvbuf, op=op, root=0, tag=tag)
    else:
        own = recvbuf if sendbuf is None else sendbuf
        check_same_size(own, recvbuf)
        reduce.run(comm, own, None, op=op, root=0, tag=tag)
    bcast.run(comm, recvbuf, root=0, tag=tag)


def parts(case: Case) -> list[Part]:
    reduce, bcast = ALGORITHM.parameter(case, "reduce"), ALGORITHM.parameter(case, "bcast")
    return [(reduce, replace(case, root=0, parameters={})), (bcast, Case(case.p, case.m, itemsize=case.itemsize))]


ALGORITHM = Algorithm(
    operation="allreduce",
    name="reduce_bcast",
    run=allreduce_reduce_bcast,
    parameters={"reduce": REDUCE, "bcast": BCAST},
    in_order=True,
    **one_after_the_other(parts),
)
