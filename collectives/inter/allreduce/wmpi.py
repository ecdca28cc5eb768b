"""Allreduce between groups as in WMPI: a reduce in each group, then a broadcast to one group, then to the other.

Each group reduces to its rank 0, its leader, by `reduce`, both at once. Then the first group's leader sends its result
to the other leader, which broadcasts it in its group by `bcast`; then the same in the other direction. The leaders
complete a broadcast first, so the two overlap. The first group is the larger one; if the groups are equal, the caller
passes `first=True` in one and `first=False` in the other (WMPI stores a flag in the communicator; see
`inter_patterns.groups`). Operands are combined in the order that `reduce` uses.

    p = 4, q = 2
              reduced      a_0 to b_0   bcast in B   b_0 to a_0   bcast in A
    a_0       0123 ..      0123 ..      ..           0123 xy      xy
    a_1 a_2.. .... ..      .... ..      ..           .... ..      xy
    b_0       xy ....      xy 0123      0123         0123         0123
    b_1       .. ....      .. ....      0123         0123         0123

Rounds   2 + parts    Sent per rank   parts; on leaders + m    Scratch   parts; on leaders + m
Time     2 (t_s + m t_w) + parts; if both parts are binomial and both groups have m bytes: (2 + max(a, b) + a + b) (t_s
         + m t_w) + max(a, b) m c with a = ceil(log2 p), b = ceil(log2 q); otherwise computed from the schedule
Fits     any p and q; cases that its parts support; equal groups need `first`
Bits     equal on all ranks; depend on the operands only
Best     short messages, and ops that need rank order
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Seconds, Transfer, message
from collectives.inter_patterns.groups import Step, in_both_groups, part_claims, undecided
from collectives.inter_patterns.root_gathering import exchange_in_turn, resolve_first
from collectives.inter_patterns.root_gathering_claims import exchange_in_turn_steps
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.local import check_local
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def _rounds(case: Case) -> int | None:
    """The later reduce, a hop, the leader's sends in one broadcast, a hop, and the other broadcast."""
    names = [allreduce_wmpi.parameter(case, name).name for name in ("reduce", "bcast")]
    if case.m != case.m_b or names != ["binomial", "binomial"]:
        return None
    a, b = ceil_log2(case.p), ceil_log2(case.q)
    return max(a, b) + 2 + a + b


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    rounds = _rounds(case)
    return None if rounds is None else rounds * message(case.m, t_s, t_w)


def closed_combined(case: Case) -> int | None:
    return None if _rounds(case) is None else max(ceil_log2(case.p), ceil_log2(case.q)) * case.m


def held(case: Case, rank: int) -> int:
    """Bytes of the local group's result on its leader."""
    return {0: case.m, case.p: case.m_b}.get(rank, 0)


def steps(case: Case) -> list[Step]:
    reduce, bcast = (allreduce_wmpi.parameter(case, name) for name in ("reduce", "bcast"))
    reduces = in_both_groups(reduce, case, (case.m, case.m_b), commutative=case.commutative)
    bcasts = in_both_groups(bcast, case, (case.m_b, case.m))
    leaders = Transfer(0, case.p, case.m), Transfer(case.p, 0, case.m_b)
    return [*reduces, *exchange_in_turn_steps(case, leaders, *bcasts)]


CLAIMS = part_claims(steps, held=held, why_unsupported=undecided) | Claims(
    closed_time=closed_time, closed_combined=closed_combined
)


@algorithm(checks_itself=True, in_order=True, **CLAIMS)
def allreduce_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = reduce_binomial,
    bcast: Algorithm = bcast_binomial,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Leave the result of the other group's operands in `recvbuf` on every rank."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    goes_first = resolve_first(allreduce_wmpi, (p, p * sendbuf.size), (q, q * recvbuf.size), first)
    parameters = {"reduce": reduce, "bcast": bcast, "first": goes_first}
    allreduce_wmpi.check(Case(p, q=q, commutative=op.Is_commutative(), parameters=parameters))
    whole = spare_memory(sendbuf, sendbuf.size) if local.Get_rank() == 0 else None
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    exchange_in_turn(inter, local, whole, recvbuf, goes_first, bcast, tag)
