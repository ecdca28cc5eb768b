"""Allgather between groups in two stages: pieces of blocks are distributed cyclically and gathered by two allgathers.

Let A be the larger group. In round g b_j sends piece g of its block to rank g q + j of A, and receives the whole block
of the g-th rank of run j (runs as in `full_duplex`). A then gathers twice: over the ranks j, q + j, 2q + j, ... the
pieces of b_j's block, then over each q consecutive ranks the whole blocks; B gathers the blocks that it received. If q
does not divide p, the first p mod q blocks are cut into one piece more, and the remaining ranks at the end join the
last q ranks without data. If p = q, both sides do the same.

    p = 4, q = 2, blocks 0 1 2 3 of A, xX and yY of B
              start     1st       2nd       across    along
    a_0       ....      x...      x...      xX..      xXyY
    a_1       ....      ..y.      ..y.      ..yY      xXyY
    a_2       ....      ....      .X..      xX..      xXyY
    a_3       ....      ....      ...Y      ..yY      xXyY
    b_0       ....      0...      01..      0123
    b_1       ....      ..2.      ..23      0123

Rounds   p/q + parts    Sent per rank   own block + parts    Scratch   parts
Time     at most (M + k_B) t_w; M = max(p k_A, q k_B), if q | p and (p/q) | k_B, plus start-ups (Theorem 1); the exact
         time, for any sizes, is computed from the schedule
Fits     any p and q; blocks of equal size within a group
Best     the same time as full_duplex in this model; if nodes have q ranks each, the second stage stays inside the nodes
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Full-Duplex Inter-Group All-to-All Broadcast Algorithms with
         Optimal Bandwidth, EuroMPI 2018, doi:10.1145/3236367.3236374, Algorithm 2; sizes that do not divide are
         fakempi's
"""

from __future__ import annotations

from collections.abc import Iterable

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.full_duplex import ALLGATHER, ALLGATHERV, Sides, gather_parts, runs_of_all, sides
from collectives.inter_patterns.full_duplex_claims import case_sides, duplex_claims, gather_part
from collectives.inter_patterns.groups import GroupPart
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.subset import Subset


def _exchange_in_a(inter: Intercomm, sendbuf: Buffer, recvbuf: Buffer, s: Sides, rank: int, tag: int) -> None:
    """Send in the round of the rank's position in its run, and receive in the round of its piece; if equal, at once."""
    target, (g, j) = s.run_of(rank), divmod(rank, s.q)
    position, pieces = rank - s.runs.start(target), s.pieces(j)
    incoming = recvbuf[j * s.k_b + pieces.start(g) : j * s.k_b + pieces.start(g + 1)]
    for round_number in sorted({position, g}):
        outgoing = sendbuf if round_number == position else None
        exchange(inter, outgoing, target, incoming if round_number == g else None, j, tag)


def _sizes(pieces: Layout) -> list[int]:
    return [pieces.size(g) for g in range(pieces.p)]


def _along(s: Sides, g: int) -> tuple[range, list[int]]:
    """The g-th q consecutive ranks of A and the size of each one's data; the last set includes the remaining ranks."""
    last = s.p // s.q - 1
    if g < last:
        return range(g * s.q, (g + 1) * s.q), [s.k_b] * s.q
    return range(last * s.q, s.p), [s.k_b] * s.q + [0] * (s.p % s.q)


def _piece_back(s: Sides, j: int, c: int) -> tuple[int, int]:
    """The destination in A and the size of the c-th piece of b_j's block."""
    return c * s.q + j, s.pieces(j).size(c)


def _parts(case: Case, across: Iterable[int] | None = None, along: Iterable[int] | None = None) -> list[GroupPart]:
    """The gathers across A, along A, and in B; for some of the sets, or for all."""
    s, a, b, _ = case_sides(case)
    first = [gather_part(_sizes(s.pieces(j)), a[j :: s.q], case) for j in across or range(s.q)]
    sets = [_along(s, g) for g in along or range(s.p // s.q)]
    second = [gather_part(counts, [a[i] for i in members], case) for members, counts in sets]
    return [*first, *second, gather_part(runs_of_all(s.p, s.q, s.k_a), b, case)]


def _kinds(case: Case) -> list[GroupPart]:
    """The first and the last set of each stage: no other kinds exist, and checking all sets on all ranks would be O(p^2)."""
    s = case_sides(case).sides
    return _parts(case, {0, s.q - 1}, {0, s.p // s.q - 1})


@algorithm(**duplex_claims(_piece_back, _parts, _kinds))
def allgather_two_stage(
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
        _exchange_in_a(inter, sendbuf, recvbuf, s, rank, tag)
        j = rank % s.q
        across = range(j, s.p, s.q)
        block, counts = recvbuf[j * s.k_b : (j + 1) * s.k_b], _sizes(s.pieces(j))
        gather_parts(Subset(local, across, rank // s.q), block, counts, allgather, allgatherv, tag)
        along, counts = _along(s, rank // s.q)
        gather_parts(Subset(local, along, rank - along[0]), recvbuf, counts, allgather, allgatherv, tag)
    else:
        pieces = s.pieces(rank)
        for g in range(pieces.p):
            i = s.runs.start(rank) + g
            incoming = recvbuf[i * s.k_a : (i + 1) * s.k_a]
            exchange(inter, pieces.block(sendbuf, g), g * s.q + rank, incoming, i, tag)
        gather_parts(local, recvbuf, runs_of_all(s.p, s.q, s.k_a), allgather, allgatherv, tag)
