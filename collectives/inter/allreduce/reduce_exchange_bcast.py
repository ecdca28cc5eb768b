"""Allreduce between groups by reduce, exchange and broadcast: both groups do the same at the same time.

Each group reduces to its rank 0, its leader, by `reduce`. The leaders exchange their results, both directions at once.
Each broadcasts the received result by `bcast`. No group has to go first, unlike in wmpi. Operands are combined in the
order that `reduce` uses.

    p = 4, q = 2           (0123: the operands of A are combined, xy: those of B)
              reduced      a_0 with b_0    bcast in A and B
    a_0       0123 ..      xy              xy
    a_1 a_2.. .... ..      ..              xy
    b_0       xy ....      0123            0123
    b_1       .. ....      ....            0123

Rounds   1 + parts    Sent per rank   parts; on leaders + m    Scratch   parts; on leaders + m
Time     (1 + 2 l) (t_s + m t_w) + l m c; l = ceil(log2 max(p, q)), if both parts are binomial and both groups have m
         bytes; otherwise computed from the schedule
Fits     any p and q; cases that its parts support
Bits     equal on all ranks; depend on the operands only
Best     short messages, and ops that need rank order
Source   MPICH, src/mpi/coll/allreduce/allreduce_inter_reduce_exchange_bcast.c
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Seconds, message
from collectives.inter_patterns.groups import GroupPart, checked_sizes, in_both_groups
from collectives.inter_patterns.leaders_exchange import leaders_exchange, leaders_exchange_claims
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def _rounds(case: Case) -> int | None:
    names = [allreduce_reduce_exchange_bcast.parameter(case, name).name for name in ("reduce", "bcast")]
    if case.m != case.m_b or names != ["binomial", "binomial"]:
        return None
    return 1 + 2 * ceil_log2(max(case.p, case.q))


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    rounds = _rounds(case)
    return None if rounds is None else rounds * message(case.m, t_s, t_w)


def closed_combined(case: Case) -> int | None:
    return None if _rounds(case) is None else ceil_log2(max(case.p, case.q)) * case.m


def _broadcasts(case: Case) -> list[GroupPart]:
    return in_both_groups(allreduce_reduce_exchange_bcast.parameter(case, "bcast"), case, (case.m_b, case.m))


CLAIMS = leaders_exchange_claims(
    lambda case: case.parameters.get("reduce", reduce_binomial), lambda case: (case.m, case.m_b), _broadcasts
)


@algorithm(in_order=True, **CLAIMS | Claims(closed_time=closed_time, closed_combined=closed_combined))
def allreduce_reduce_exchange_bcast(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = reduce_binomial,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Leave the result of the other group's operands in `recvbuf` on every rank."""
    checked_sizes(inter, local)
    leaders_exchange(inter, local, sendbuf, recvbuf, op, reduce, tag)
    bcast.run(local, recvbuf, root=0, tag=tag)
