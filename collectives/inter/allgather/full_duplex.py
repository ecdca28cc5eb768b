"""Allgather between groups, full duplex: blocks one way and pieces of blocks the other way, then both groups gather.

Let A be the larger group. It is cut into q runs of consecutive ranks, the first p mod q of them one longer. b_j
exchanges with the ranks of run j one after the other: it receives the whole block of the c-th rank and sends it the
c-th nearly equal piece of its own block (larger pieces first, some may be empty). Then both groups, independently and
at the same time, gather the received data to all their ranks; the data are already in rank order. `allgather` is used
for equal parts, `allgatherv` for unequal ones. If p = q, both sides do the same, so no rank needs to know which group
is A.

    p = 4, q = 2, blocks 0 1 2 3 of A, xX and yY of B
              start     1st       2nd       gathered
    a_0       ....      x...      x...      xXyY
    a_1       ....      ....      .X..      xXyY
    a_2       ....      ..y.      ..y.      xXyY
    a_3       ....      ....      ...Y      xXyY
    b_0       ....      0...      01..      0123
    b_1       ....      ..2.      ..23      0123

Rounds   p/q + parts    Sent per rank   own block + parts    Scratch   parts
Time     at most (M + k_B) t_w; M = max(p k_A, q k_B), if q | p and (p/q) | k_B, plus start-ups (Theorem 1); the exact
         time, for any sizes, is computed from the schedule
Fits     any p and q; blocks of equal size within a group
Best     long blocks if q divides p: the lower bound max(p k_A, q k_B) t_w plus at most one block; otherwise up to twice
         that
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 1
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.full_duplex import (
    ALLGATHER,
    ALLGATHERV,
    Sides,
    gather_parts,
    pieces_of_all,
    runs_of_all,
    sides,
)
from collectives.inter_patterns.full_duplex_claims import case_sides, duplex_claims, gather_part
from collectives.inter_patterns.groups import GroupPart
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm


def _piece_back(s: Sides, j: int, c: int) -> tuple[int, int]:
    """The c-th piece, to the c-th rank of the run."""
    return s.runs.start(j) + c, s.pieces(j).size(c)


def _parts(case: Case) -> list[GroupPart]:
    s, a, b, _ = case_sides(case)
    return [gather_part(pieces_of_all(s.p, s.q, s.k_b), a, case), gather_part(runs_of_all(s.p, s.q, s.k_a), b, case)]


@algorithm(**duplex_claims(_piece_back, _parts))
def allgather_full_duplex(
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
        pieces, c, start = s.pieces(j), rank - s.runs.start(j), j * s.k_b
        incoming = recvbuf[start + pieces.start(c) : start + pieces.start(c + 1)]
        exchange(inter, sendbuf, j, incoming, j, tag)
        gather_parts(local, recvbuf, pieces_of_all(s.p, s.q, s.k_b), allgather, allgatherv, tag)
    else:
        pieces = s.pieces(rank)
        for c in range(s.runs.size(rank)):
            i = s.runs.start(rank) + c
            exchange(inter, pieces.block(sendbuf, c), i, recvbuf[i * s.k_a : (i + 1) * s.k_a], i, tag)
        gather_parts(local, recvbuf, runs_of_all(s.p, s.q, s.k_a), allgather, allgatherv, tag)
