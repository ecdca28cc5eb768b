"""Barrier between groups as in WMPI: a barrier of all ranks of both groups, over the communicator that joins each two.

The ranks of one group keep their numbers, those of the other are shifted by its size; on these p + q numbers runs
`barrier`, and every message takes the local group's communicator or the one between the groups, whichever joins the two.
The larger group keeps its numbers, or who says `first=True`. Dissemination does the same at r + p as at r, so of two
groups of one size both may keep theirs: it never asks. Other barriers need `first` there. Everybody waits for everybody,
also of its own group; MPI asks only to wait for the other.

    p = 4, q = 2: all are 0 .. 5, b_0 is 4 and b_1 is 5
              start       k = 0       k = 1       k = 2
    a_0       0.....      0....5      0..345      012345
    a_1       .1....      01....      01..45      012345
    ...
    b_1       .....5      ....45      ..2345      012345

Rounds   ceil(log2 (p+q))    Sent per rank   0 bytes    Scratch   none
Time     ceil(log2 (p+q)) t_s
Fits     any p and q; groups of one size need `first` unless by dissemination
Best     always, in this model: no barrier of all has fewer rounds
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2;
         by a hypercube there, by dissemination here, which takes no longer and serves any p + q
"""

from __future__ import annotations

from collectives.between.groups import UNDECIDED, check_call, comes_first
from collectives.between.union import Union
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule, Seconds
from collectives.intra.barrier import dissemination
from collectives.tools.protocol import Comm, Intercomm

BARRIER = dissemination.ALGORITHM


def barrier_wmpi(
    inter: Intercomm, local: Comm, *, barrier: Algorithm = BARRIER, first: bool | None = None, tag: int = 0
) -> None:
    """Return when every rank of both groups has called."""
    p, q = check_call(ALGORITHM, inter, local, {"barrier": barrier, "first": first})
    keeps = comes_first((p, 0), (q, 0), first) is not False
    barrier.run(Union(inter, local, keeps), tag=tag)


def fits(case: Case) -> str | None:
    barrier, first = ALGORITHM.parameter(case, "barrier"), ALGORITHM.parameter(case, "first")
    if case.p == case.q and first is None and barrier.name != BARRIER.name:
        return UNDECIDED.format(p=case.p)
    reason = barrier.fits(Case(case.ranks))
    return f"barrier {barrier.name}: {reason}" if reason else None


def schedule(case: Case) -> Schedule | None:
    plan, first = _all(case)[0].plan(Case(case.ranks)), _all(case)[1]
    if plan is None or first:
        return plan
    n, p = case.ranks, case.p
    here = [*range(p, n), *range(p)]  # B keeps its numbers, A's are shifted by q
    return ([t._replace(source=here[t.source], dest=here[t.dest]) for t in transfers] for transfers in plan)


def closed_rounds(case: Case) -> int | None:
    return _all(case)[0].rounds(Case(case.ranks))


def closed_sent(case: Case, rank: int) -> int:
    return 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return _all(case)[0].time(Case(case.ranks), t_s, t_w)


def _all(case: Case) -> tuple[Algorithm, bool]:
    """The barrier, and whether A keeps its numbers."""
    first = comes_first((case.p, 0), (case.q, 0), ALGORITHM.parameter(case, "first"))
    return ALGORITHM.parameter(case, "barrier"), first is not False


ALGORITHM = Algorithm(
    operation="barrier",
    name="wmpi",
    kind="inter",
    run=barrier_wmpi,
    schedule=schedule,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    parameters={"barrier": BARRIER, "first": None},
)
