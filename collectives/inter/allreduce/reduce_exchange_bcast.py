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

from collectives.between.groups import Placed, beside, check_call, in_a_row, misfit, numbers, scratch_in, sent_in
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule, Seconds, Transfer, message, without_empty
from collectives.intra.bcast import binomial as bcast_binomial
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.tools.blocks import scratch as spare_memory
from collectives.tools.messages import exchange
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
    whole = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    if whole is not None:
        exchange(inter, whole, 0, recvbuf, 0, tag)
    bcast.run(local, recvbuf, root=0, tag=tag)


def schedule(case: Case) -> Schedule | None:
    parts = _parts(case)
    across = without_empty([Transfer(0, case.p, case.m), Transfer(case.p, 0, case.m_b)])
    return in_a_row(beside(parts[:2]), [across], beside(parts[2:]))


def fits(case: Case) -> str | None:
    return misfit(_parts(case))


def scratch(case: Case, rank: int) -> int:
    return scratch_in(_parts(case), rank) + _by_leaders(case, rank)


def closed_sent(case: Case, rank: int) -> int | None:
    within = sent_in(_parts(case), rank)
    return None if within is None else within + _by_leaders(case, rank)


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


def _by_leaders(case: Case, rank: int) -> int:
    """The result of the own group, which its leader holds and sends."""
    return {0: case.m, case.p: case.m_b}.get(rank, 0)


def _parts(case: Case) -> list[Placed]:
    reduce, bcast = ALGORITHM.parameter(case, "reduce"), ALGORITHM.parameter(case, "bcast")
    (p, q), (in_a, in_b), size = (case.p, case.q), numbers(case), case.itemsize
    return [
        (reduce, Case(p, case.m, itemsize=size, commutative=case.commutative), in_a),
        (reduce, Case(q, case.m_b, itemsize=size, commutative=case.commutative), in_b),
        (bcast, Case(p, case.m_b, itemsize=size), in_a),
        (bcast, Case(q, case.m, itemsize=size), in_b),
    ]


ALGORITHM = Algorithm(
    operation="allreduce",
    name="reduce_exchange_bcast",
    kind="inter",
    run=allreduce_reduce_exchange_bcast,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    closed_combined=closed_combined,
    parameters={"reduce": REDUCE, "bcast": BCAST},
    in_order=True,
)
