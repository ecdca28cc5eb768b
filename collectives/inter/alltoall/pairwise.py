"""Alltoall between groups by pairwise exchange: in every round the groups form pairs, and each pair swaps its two blocks.

With n = max(p, q), in round i = 0 .. n-1 those of the two groups meet whose ranks add up to i (mod n) (`between.across`); a
rank of the larger group rests where it would meet a rank that the smaller one does not have.

    p = 4, q = 2      i = 0     i = 1     i = 2     i = 3
    b_0 meets         a_0       a_1       a_2       a_3
    b_1 meets         a_3       a_0       a_1       a_2

Rounds   max(p, q)    Sent per rank   q m bytes, in B p m_b    Scratch   none
Time     max(p, q) (t_s + m t_w); m is the longer of the two blocks
Fits     any p and q; blocks of equal size in each direction
Best     long blocks: nobody can do with less than max(p, q) of them, and nobody has more than one partner at a time
Source   ours; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collectives.between.across import bytes_sent, in_rounds, rounds_on_paper
from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Seconds, message
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


def alltoall_pairwise(inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Swap equal blocks with every rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    out, into = Layout.equal(sendbuf.size, q), Layout.equal(recvbuf.size, q)
    between = UnbufferedBetween(inter)
    in_rounds(between, lambda other: out.block(sendbuf, other), lambda other: into.block(recvbuf, other), tag)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return max(case.p, case.q) * message(max(case.m, case.m_b), t_s, t_w)


def closed_rounds(case: Case) -> int:
    return max(case.p, case.q) if case.m or case.m_b else 0


ALGORITHM = Algorithm(
    operation="alltoall",
    name="pairwise",
    kind="inter",
    run=alltoall_pairwise,
    schedule=rounds_on_paper,
    closed_rounds=closed_rounds,
    closed_sent=bytes_sent,
    closed_time=closed_time,
)
