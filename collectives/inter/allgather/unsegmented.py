"""Allgather between groups, unsegmented: partners exchange whole blocks, then sets of q ranks gather.

Let A be the larger group, cut into q runs as in `full_duplex`. b_j exchanges whole blocks with the ranks of run j one
after the other. The c-th ranks of all runs then hold all of B's blocks between them: each such set of q ranks of A
gathers to all by itself, and so does B, with what it received. Where q does not divide p, the first p mod q runs have
one rank more: these give their block, take none, and join the last set with nothing to add. Where p = q both sides do
the same.

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              start     1st       2nd       gathered, in the sets {a_0, a_2} and {a_1, a_3}
    a_0       ..        x.        x.        xy
    a_1       ..        ..        x.        xy
    a_2       ..        .y        .y        xy
    a_3       ..        ..        .y        xy
    b_0       ....      0...      01..      0123
    b_1       ....      ..2.      ..23      0123

Rounds   p/q + its parts'    Sent per rank   b_j p/q blocks + its parts'    Scratch   its parts'
Time     at most (p/q max(k_A, k_B) + G) t_w; G = max((q-1) k_B, (p - p/q) k_A), where q | p, beside startups; for any
         sizes by the schedule's recurrence, exact
Fits     any p and q; blocks of equal size within a group
Best     about equal groups; where p k_A < q k_B the ratio to the lower bound grows with p/q without bound
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Full-Duplex Inter-Group All-to-All Broadcast Algorithms
         with Optimal Bandwidth, EuroMPI 2018, doi:10.1145/3236367.3236374, Algorithm 1; sets that do not come out: ours
"""

from __future__ import annotations

from collections.abc import Iterable

from collectives.between.full_duplex import ALLGATHER, ALLGATHERV, PARAMETERS, Sides, gather_parts, runs_of_all, sides
from collectives.between.full_duplex_claims import duplex_claims, on_paper, parts_on_paper
from collectives.between.groups import Placed, Subset
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm


def allgather_unsegmented(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    allgather: Algorithm = ALLGATHER,
    allgatherv: Algorithm = ALLGATHERV,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    rank, s = inter.Get_rank(), sides(ALGORITHM, inter, local, sendbuf, recvbuf, allgather, allgatherv)
    if s.in_a:
        j = s.run_of(rank)
        c = rank - s.runs.start(j)
        incoming = recvbuf[j * s.k_b : (j + 1) * s.k_b] if c < s.p // s.q else None
        exchange(inter, sendbuf, j, incoming, j, tag)
        members, counts = _set(s, min(c, s.p // s.q - 1))
        subset = Subset(local, members, members.index(rank))
        gather_parts(subset, recvbuf, counts, allgather, allgatherv, tag)
    else:
        for c in range(s.runs.size(rank)):
            i = s.runs.start(rank) + c
            outgoing = sendbuf if c < s.p // s.q else None
            exchange(inter, outgoing, i, recvbuf[i * s.k_a : (i + 1) * s.k_a], i, tag)
        gather_parts(local, recvbuf, runs_of_all(s.p, s.q, s.k_a), allgather, allgatherv, tag)


def _set(s: Sides, c: int) -> tuple[list[int], list[int]]:
    """The c-th ranks of all runs, and what each has; the last set also takes those that are left over."""
    members: list[int] = []
    counts: list[int] = []
    for j in range(s.q):
        last = s.runs.size(j) if c == s.p // s.q - 1 else c + 1
        members += range(s.runs.start(j) + c, s.runs.start(j) + last)
        counts += [s.k_b, *(0,) * (last - c - 1)]
    return members, counts


def _back(s: Sides, j: int, c: int) -> tuple[int, int]:
    """The whole block, to the c-th rank of the run; the ranks left over get nothing."""
    return s.runs.start(j) + c, s.k_b if c < s.p // s.q else 0


def _parts(case: Case, sets_of: Iterable[int] | None = None) -> list[Placed]:
    s, a, b, _ = on_paper(case)
    sets = [_set(s, c) for c in sets_of or range(s.p // s.q)]
    parts = [parts_on_paper(counts, [a[i] for i in members], case) for members, counts in sets]
    return [*parts, parts_on_paper(runs_of_all(s.p, s.q, s.k_a), b, case)]


def _kinds(case: Case) -> list[Placed]:
    """The first and the last set are all the kinds there are; every rank asks, so all would be too many."""
    s = on_paper(case).sides
    return _parts(case, {0, s.p // s.q - 1})


ALGORITHM = Algorithm(
    operation="allgather",
    name="unsegmented",
    kind="inter",
    run=allgather_unsegmented,
    parameters=PARAMETERS,
    **duplex_claims(_back, _parts, _kinds),
)
