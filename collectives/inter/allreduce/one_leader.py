"""Allreduce between groups by one leader: rank 0 of the smaller group communicates with the whole other group.

The smaller group reduces to its rank 0 by `reduce`. This leader broadcasts the result to the other group (bcast
joined), and the other group reduces to it (reduce circulant), both in segments of the best length for `startup_bytes`
(`inter_patterns.joined`). At the end the leader broadcasts that result in its own group by `bcast`. If the groups have
equal size, the caller passes `first=False` in the group that has the leader, and `first=True` in the other.

    p = 4, q = 1      start    b_0 to A    A to b_0
    a_0 .. a_3        0..3     x           x
    b_0               x        x           0123

Rounds   parts    Sent per rank   parts    Scratch   parts; on the leader + m
Time     computed from the schedule; about 2 m t_w + 2 h t_s + 4 sqrt(h m t_w t_s) if the smaller group is one rank,
         where h = ceil(log2 (q+1)) - 1
Fits     any p and q; commutative ops; cases that its parts support; startup_bytes > 0; equal groups need `first`
Bits     equal on all ranks; depend on p
Best     long messages between one rank and many: the lower bound is 2 m q / (q+1) t_w
Source   fakempi; Träff, Optimal Broadcast Schedules in Logarithmic Time, 2024, arXiv:2407.18004, for both its main
         parts
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter.bcast.joined import bcast_joined
from collectives.inter.reduce.circulant import reduce_circulant
from collectives.inter_patterns.groups import UNDECIDED, GroupPart, RootRole, part_claims, process_numbers
from collectives.inter_patterns.joined import STARTUP_BYTES
from collectives.inter_patterns.one_leader import a_is_larger
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def undecided(case: Case) -> str | None:
    return UNDECIDED.format(p=case.p) if a_is_larger(case) is None else None


def held(case: Case, rank: int) -> int:
    leader, nbytes = (case.p, case.m_b) if a_is_larger(case) else (0, case.m)
    return nbytes if rank == leader else 0


def _parts(case: Case) -> list[GroupPart]:
    """The parts within the smaller group, and those between its leader (as root) and the other group."""
    reduce, bcast = allreduce_one_leader.parameter(case, "reduce"), allreduce_one_leader.parameter(case, "bcast")
    (a, b), (in_a, in_b) = case.groups, process_numbers(case)
    smaller, larger, in_smaller, in_larger = (b, a, in_b, in_a) if a_is_larger(case) else (a, b, in_a, in_b)
    size, cut = case.itemsize, {"startup_bytes": allreduce_one_leader.parameter(case, "startup_bytes")}
    there = Case(smaller.p, smaller.m, q=larger.p, itemsize=size, parameters=cut)
    back = Case(smaller.p, q=larger.p, m_b=larger.m, itemsize=size, commutative=case.commutative, parameters=cut)
    both = [*in_smaller, *in_larger]
    return [
        (reduce, Case(smaller.p, smaller.m, itemsize=size, commutative=case.commutative), in_smaller),
        (bcast_joined, there, both),
        (reduce_circulant, back, both),
        (bcast, Case(smaller.p, larger.m, itemsize=size), in_smaller),
    ]


@algorithm(**part_claims(_parts, held=held, why_unsupported=undecided, reduces=True))
def allreduce_one_leader(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = reduce_binomial,
    bcast: Algorithm = bcast_binomial,
    startup_bytes: int = STARTUP_BYTES,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Leave the result of the other group's operands in `recvbuf` on every rank."""
    if a_is_larger(Case(inter.Get_size(), q=inter.Get_remote_size(), parameters={"first": first})):
        bcast_joined.run(inter, local, recvbuf, root=0, startup_bytes=startup_bytes, tag=tag)
        reduce_circulant.run(inter, local, sendbuf, None, op=op, root=0, startup_bytes=startup_bytes, tag=tag)
        return
    leads = local.Get_rank() == 0
    root, whole = (RootRole.ROOT, spare_memory(sendbuf, sendbuf.size)) if leads else (RootRole.PROC_NULL, None)
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    bcast_joined.run(inter, local, whole, root=root, startup_bytes=startup_bytes, tag=tag)
    reduce_circulant.run(
        inter, local, None, recvbuf if leads else None, op=op, root=root, startup_bytes=startup_bytes, tag=tag
    )
    bcast.run(local, recvbuf, root=0, tag=tag)
