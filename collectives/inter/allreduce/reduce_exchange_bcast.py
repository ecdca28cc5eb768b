"""Allreduce between groups by reduce, exchange and broadcast: both groups do the same at the same time.

Each group reduces to its rank 0, its leader, by `reduce`; the leaders exchange what they have, both ways at once; each
broadcasts what it received by `bcast`. Nobody has to go first, as in wmpi. Operands are combined in the order that
`reduce` keeps to.

    p = 4, q = 2
              reduced      a_0 with b_0    bcast in A and B
    a_0       0123 ..      xy              xy
    a_1 a_2.. .... ..      ..              xy
    b_0       xy ....      0123            0123
    b_1       .. ....      ....            0123

Rounds   1 + its parts'    Sent per rank   its parts', leaders m more    Scratch   its parts', leaders m more
Time     (1 + 2 ceil(log2 n)) (t_s + m t_w); n = max(p, q), and ceil(log2 n) m c, for both binomial and m on both sides,
         otherwise by the schedule's recurrence, exact
Fits     any p and q; what its parts fit
Best     short messages, and ops that want rank order
Source   MPICH, src/mpi/coll/allreduce/allreduce_inter_reduce_exchange_bcast.c
"""

from __future__ import annotations

from collectives.between.groups import Placed, check_call, numbers
from collectives.between.leaders_exchange import leaders_exchange, leaders_exchange_claims
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Seconds, message
from collectives.intra.bcast import binomial as bcast_binomial
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, BCAST = reduce_binomial.ALGORITHM, bcast_binomial.ALGORITHM


def allreduce_reduce_exchange_bcast(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Leave the combination of the other group's operands in everybody's `recvbuf`."""
    check_call(ALGORITHM, inter, local, {"reduce": reduce, "bcast": bcast}, op.Is_commutative())
    leaders_exchange(inter, local, sendbuf, recvbuf, op, reduce, tag)
    bcast.run(local, recvbuf, root=0, tag=tag)


def closed_rounds(case: Case) -> int | None:
    names = [ALGORITHM.parameter(case, name).name for name in ("reduce", "bcast")]
    if case.m != case.m_b or names != ["binomial", "binomial"]:
        return None
    return 1 + 2 * ceil_log2(max(case.p, case.q)) if case.m else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    rounds = closed_rounds(case)
    return None if rounds is None else rounds * message(case.m, t_s, t_w)


def closed_combined(case: Case) -> int | None:
    return None if closed_rounds(case) is None else ceil_log2(max(case.p, case.q)) * case.m


def _broadcasts(case: Case) -> list[Placed]:
    bcast, (in_a, in_b) = ALGORITHM.parameter(case, "bcast"), numbers(case)
    return [
        (bcast, Case(case.p, case.m_b, itemsize=case.itemsize), in_a),
        (bcast, Case(case.q, case.m, itemsize=case.itemsize), in_b),
    ]


CLAIMS = leaders_exchange_claims(
    lambda case: ALGORITHM.parameter(case, "reduce"), lambda case: (case.m, case.m_b), _broadcasts
)
ALGORITHM: Algorithm = Algorithm(
    operation="allreduce",
    name="reduce_exchange_bcast",
    kind="inter",
    run=allreduce_reduce_exchange_bcast,
    parameters={"reduce": REDUCE, "bcast": BCAST},
    in_order=True,
    **(CLAIMS | Claims(closed_rounds=closed_rounds, closed_time=closed_time, closed_combined=closed_combined)),
)
