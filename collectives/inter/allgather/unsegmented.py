"""Allgather between groups, unsegmented: partners exchange whole blocks, then sets of q ranks gather.

Let A be the larger group (p ranks) and B the smaller one (q ranks). A is cut into q runs of consecutive ranks, as in
`full_duplex`. Rank j of B, b_j, exchanges whole blocks with the ranks of run j, one after the other. Together, the c-th
ranks of all runs then hold all blocks of B. Each such set of q ranks of A does an allgather of these blocks, and B does an
allgather of the blocks that it received. If q does not divide p, the first p mod q runs have one extra rank: it sends its
block, receives none, and joins the last set without data. If p = q, the algorithm is the same in both groups.

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              start     1st       2nd       gathered, in the sets {a_0, a_2} and {a_1, a_3}
    a_0       ..        x.        x.        xy
    a_1       ..        ..        x.        xy
    a_2       ..        .y        .y        xy
    a_3       ..        ..        .y        xy
    b_0       ....      0...      01..      0123
    b_1       ....      ..2.      ..23      0123

Rounds   ceil(p/q) + parts    Sent per rank   own block + parts; b_j sends its block floor(p/q) times
         Scratch   parts
Time     at most (p/q max(k_A, k_B) + G) t_w; G = max((q-1) k_B, (p - p/q) k_A), if q | p, plus start-ups; the exact
         time, for any sizes, is computed from the schedule
Fits     any p and q; blocks of equal size within a group
Best     groups of similar size; if p k_A < q k_B, the time over the lower bound grows with p/q without limit
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Full-Duplex Inter-Group All-to-All Broadcast Algorithms with
         Optimal Bandwidth, EuroMPI 2018, doi:10.1145/3236367.3236374, Algorithm 1; for q | p. The
         general case is fakempi's
"""

from __future__ import annotations

from collections.abc import Iterable

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.full_duplex import ALLGATHER, ALLGATHERV, Sides, gather_parts, runs_of_all, sides
from collectives.inter_patterns.full_duplex_claims import case_sides, duplex_claims, gather_part
from collectives.inter_patterns.groups import GroupPart
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.subset import Subset


def _set(s: Sides, c: int) -> tuple[list[int], list[int]]:
    """The c-th ranks of all runs, and the elements that each of them contributes; the last set includes the extra ranks."""
    members: list[int] = []
    counts: list[int] = []
    for j in range(s.q):
        last = s.runs.size(j) if c == s.p // s.q - 1 else c + 1
        members += range(s.runs.start(j) + c, s.runs.start(j) + last)
        counts += [s.k_b, *(0,) * (last - c - 1)]
    return members, counts


def _piece_back(s: Sides, j: int, c: int) -> tuple[int, int]:
    """The c-th rank of run j and the number of elements that b_j sends to it: a whole block, or 0 for an extra rank."""
    return s.runs.start(j) + c, s.k_b if c < s.p // s.q else 0


def _parts(case: Case, sets_of: Iterable[int] | None = None) -> list[GroupPart]:
    s, a, b, _ = case_sides(case)
    sets = [_set(s, c) for c in sets_of or range(s.p // s.q)]
    parts = [gather_part(counts, [a[i] for i in members], case) for members, counts in sets]
    return [*parts, gather_part(runs_of_all(s.p, s.q, s.k_a), b, case)]


def _kinds(case: Case) -> list[GroupPart]:
    """The parts to check: the first and the last set. Other sets are like the first; to check all would take O(p^2)."""
    s = case_sides(case).sides
    return _parts(case, {0, s.p // s.q - 1})


@algorithm(**duplex_claims(_piece_back, _parts, _kinds))
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
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    rank, s = inter.Get_rank(), sides(inter, sendbuf, recvbuf)
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
