"""Allgatherv between groups as in WMPI: everybody sends to the other group's leader, which broadcasts in its own.

The leader, rank 0 of its group, starts a receive from every rank of the other group that has something, sends
its own block to the other leader meanwhile, and waits; the others send their block to the other leader. Then each group
broadcasts by `bcast` what its leader has, both at once. Everybody knows the other group's counts, nobody needs its own's.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              to leaders   bcast
    a_0       xy           xy
    a_1 a_2.. ..           xy
    b_0       0122333      0122333
    b_1       .......      0122333

Rounds   max(p, q) + bcast's    Sent per rank   own block + bcast's    Scratch   bcast's
Time     sum of (t_s + m_i t_w) + bcast's; that of the group whose leader has all blocks last, if its broadcast is not the
         shorter one; otherwise no closed form, since it depends on the order in which a leader's one port takes blocks in
Fits     any p and q; what `bcast` fits
Best     short blocks: one hop to the leaders and no gather before; long ones leave the leaders ceil(log2 p) times
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.algorithm import Algorithm, Case
from collectives.blocks import Layout
from collectives.groups import check_local, misfit, scratch_in
from collectives.intra.bcast import binomial
from collectives.leaders import by_leaders, bytes_sent, known_rounds, known_time, parts
from collectives.protocol import Buffer, Comm, Intercomm
from collectives.schedule import Seconds

BCAST = binomial.ALGORITHM


def allgatherv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    ALGORITHM.check(Case(p, q=q, parameters={"bcast": bcast}))
    layout = Layout.of_ranks(counts, q)
    by_leaders(inter, local, sendbuf, recvbuf, layout, bcast, tag)


def fits(case: Case) -> str | None:
    return misfit(parts(ALGORITHM, case))


def scratch(case: Case, rank: int) -> int:
    return scratch_in(parts(ALGORITHM, case), rank)


def closed_rounds(case: Case) -> int | None:
    return known_rounds(ALGORITHM, case)


def closed_sent(case: Case, rank: int) -> int | None:
    return bytes_sent(ALGORITHM, case, rank)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return known_time(ALGORITHM, case, t_s, t_w)


ALGORITHM = Algorithm(
    operation="allgatherv",
    name="wmpi",
    kind="inter",
    run=allgatherv_wmpi,
    schedule=None,
    scratch=scratch,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    parameters={"bcast": BCAST},
)
