"""Reduce_scatter between groups by a reduce each way and a scatter within: as the MPI-2 standard describes it.

The first group reduces to its rank 0, its leader, by `reduce`, which sends the result to the other leader; then the other
group does the same the other way. At last each leader scatters what it received in its own group by `scatterv`. Silva and
Silva weigh this against their own way (wmpi), which sends blocks straight to the other group's ranks: a hop less, and both
ways at once. The first group is the larger one; where the groups are alike the caller says `first=True` in one and
`first=False` in the other. That all operands have one length, as MPI demands, is not checked. Operands are combined in the
order that `reduce` keeps to.

    p = 4, q = 2      A reduced    a_0 to b_0    B reduced    b_0 to a_0    scattered      (operands in each block)
    a_0               4444                                    2222          2...
    a_1 a_2 a_3                                                             .2.. and so on
    b_0                            4444          2222                       44..
    b_1                                                                     ..44

Rounds   2 + its parts'    Sent per rank   its parts', leaders all blocks    Scratch   leaders all blocks twice; its parts'
Time     2 (t_s + K t_w) + its parts'; K is all blocks: about 2.2 times wmpi's for p = q; by the schedule's recurrence, exact
Fits     any p and q; what its parts fit; both groups' blocks as much in all; alike groups need `first`
Best     never: reduce_exchange_scatter does the same both ways at once; to compare with
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2, the alternative
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import (
    UNDECIDED,
    Placed,
    a_comes_first,
    beside,
    check_local,
    in_a_row,
    misfit,
    numbers,
    place,
    scratch_in,
    sent_in,
)
from collectives.between.leaders_exchange import blocks_of, in_all, unequal
from collectives.between.root_gathering import decided
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule, Transfer, without_empty
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTERV = reduce_binomial.ALGORITHM, scatterv_binomial.ALGORITHM


def reduce_scatter_reduce_then_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    check_local(inter, local)
    p, q, rank = inter.Get_size(), inter.Get_remote_size(), inter.Get_rank()
    goes_first = decided(ALGORITHM, (p, sendbuf.size), (q, sendbuf.size), first)
    parameters = {"reduce": reduce, "scatterv": scatterv, "first": goes_first}
    ALGORITHM.check(Case(p, q=q, commutative=op.Is_commutative(), parameters=parameters))
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), rank)
    whole, theirs = (spare_memory(sendbuf, sendbuf.size) for _ in range(2)) if rank == 0 else (None, None)
    for sending in (goes_first, not goes_first):
        if sending:
            reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
            if whole is not None:
                send(inter, whole, 0, tag)
        elif theirs is not None:
            receive(inter, theirs, 0, tag)
    scatterv.run(local, theirs, recvbuf, counts, root=0, tag=tag)


def fits(case: Case) -> str | None:
    if reason := unequal(case):
        return reason
    return UNDECIDED.format(p=case.p) if a_comes_first(case) is None else misfit(_parts(case))


def schedule(case: Case) -> Schedule | None:
    reduce_a, reduce_b, *scatters = _parts(case)
    total = in_all(case)[0]
    there = in_a_row(beside([reduce_a]), [without_empty([Transfer(0, case.p, total)])])
    back = in_a_row(beside([reduce_b]), [without_empty([Transfer(case.p, 0, total)])])
    both = (there, back) if a_comes_first(case) else (back, there)
    return in_a_row(*both, beside(scatters))


def scratch(case: Case, rank: int) -> int:
    return scratch_in(_parts(case), rank) + 2 * _by_leaders(case, rank)


def closed_sent(case: Case, rank: int) -> int | None:
    within = sent_in(_parts(case), rank)
    return None if within is None else within + _by_leaders(case, rank)


def _by_leaders(case: Case, rank: int) -> int:
    """The whole combination, which a leader holds and sends."""
    return 0 if place(case, rank)[1] else in_all(case)[0]


def _parts(case: Case) -> list[Placed]:
    reduce, scatterv = ALGORITHM.parameter(case, "reduce"), ALGORITHM.parameter(case, "scatterv")
    reduces: list[Placed] = [
        (reduce, Case(len(ranks), nbytes, itemsize=case.itemsize, commutative=case.commutative), ranks)
        for ranks, nbytes in zip(numbers(case), in_all(case), strict=True)
    ]
    return [*reduces, *blocks_of(case, scatterv)]


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="reduce_then_scatter",
    kind="inter",
    run=reduce_scatter_reduce_then_scatter,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_sent=closed_sent,
    closed_combined=lambda case: None,
    parameters={"reduce": REDUCE, "scatterv": SCATTERV, "first": None},
    in_order=True,
)
