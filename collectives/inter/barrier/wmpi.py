"""Barrier between groups as in WMPI: a barrier on the union of both groups.

The ranks of one group keep their numbers, those of the other are shifted by its size. `barrier` runs on these p + q
numbers; every message uses the local group's communicator or the intercommunicator, depending on its two ends. The
larger group keeps its numbers, or the group that passes `first=True`. In dissemination every rank r
sends to r + 2^k (mod p + q), so in two groups of equal size each group may regard its own numbers as the kept ones, and
`first` is not needed. Other barriers need `first` in that case. Every rank waits for all ranks, also of its own group;
MPI requires only to wait for the other group.

    p = 4, q = 2: all are 0 .. 5, b_0 is 4 and b_1 is 5
              start       k = 0       k = 1       k = 2
    a_0       0.....      0....5      0..345      012345
    a_1       .1....      01....      01..45      012345
    ...
    b_1       .....5      ....45      ..2345      012345

Rounds   ceil(log2 (p+q))    Sent per rank   0 bytes    Scratch   none
Time     ceil(log2 (p+q)) t_s
Fits     any p and q; groups of equal size need `first` unless by dissemination
Best     all cases, in this model: no barrier on p + q ranks has fewer rounds
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2;
         by a hypercube there, by dissemination here, which takes no longer and serves any p + q
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds
from collectives.inter_patterns.groups import UNDECIDED, checked_sizes, comes_first, with_process_numbers
from collectives.inter_patterns.posted import posted
from collectives.inter_patterns.union import Union
from collectives.intra.barrier.dissemination import barrier_dissemination
from collectives.tools.protocol import Comm, Intercomm


def why_unsupported(case: Case) -> str | None:
    barrier, first = barrier_wmpi.parameter(case, "barrier"), barrier_wmpi.parameter(case, "first")
    if case.p == case.q and first is None and barrier.name != barrier_dissemination.name:
        return UNDECIDED.format(p=case.p)
    reason = barrier.why_unsupported(Case(case.ranks))
    return f"barrier {barrier.name}: {reason}" if reason else None


def schedule(case: Case) -> Rounds | None:
    rounds, first = posted(_barrier_and_first(case)[0].schedule_for(Case(case.ranks))), _barrier_and_first(case)[1]
    if rounds is None or first:
        return rounds
    n, p = case.ranks, case.p
    numbers = [*range(p, n), *range(p)]  # B keeps its numbers, A's are shifted by q
    return with_process_numbers(rounds, numbers)


def closed_sent(case: Case, rank: int) -> int:
    return 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return _barrier_and_first(case)[0].time(Case(case.ranks), t_s, t_w)


def _barrier_and_first(case: Case) -> tuple[Algorithm, bool]:
    """The barrier, and whether A keeps its numbers."""
    first = comes_first((case.p, 0), (case.q, 0), barrier_wmpi.parameter(case, "first"))
    return barrier_wmpi.parameter(case, "barrier"), first is not False


@algorithm(
    schedule=schedule,
    why_unsupported=why_unsupported,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
def barrier_wmpi(
    inter: Intercomm, local: Comm, *, barrier: Algorithm = barrier_dissemination, first: bool | None = None, tag: int = 0
) -> None:
    """Return when every rank of both groups has entered the barrier."""
    p, q = checked_sizes(inter, local)
    keeps_numbers = comes_first((p, 0), (q, 0), first) is not False
    barrier.run(Union(inter, local, keeps_numbers), tag=tag)
