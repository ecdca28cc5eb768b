"""Allgather between groups, full duplex: blocks one way, pieces of blocks the other way, then both groups gather.

Let A be the larger group. It is cut into q runs of consecutive ranks, the first p mod q of them one longer. b_j
exchanges with the ranks of run j one after the other: it receives the whole block of the c-th and gives it the c-th
nearly equal piece of its own block (larger pieces first, some may be empty). After that both groups gather to all, each
by itself and at the same time, what they received: it lies in rank order already. `allgather` serves equal parts,
`allgatherv` unequal ones. Where p = q both sides do the same, so nobody need know which is A.

    p = 4, q = 2, blocks 0 1 2 3 of A, xX and yY of B
              start     1st       2nd       gathered
    a_0       ....      x...      x...      xXyY
    a_1       ....      ....      .X..      xXyY
    a_2       ....      ..y.      ..y.      xXyY
    a_3       ....      ....      ...Y      xXyY
    b_0       ....      0...      01..      0123
    b_1       ....      ..2.      ..23      0123

Rounds   p/q + its parts'    Sent per rank   own block + its parts'    Scratch   its parts'
Time     at most (M + k_B) t_w; M = max(p k_A, q k_B), where q | p and (p/q) | k_B, beside startups (Theorem 1); for any
         sizes by the schedule's recurrence, exact
Fits     any p and q; blocks of equal size within a group
Best     long blocks: the lower bound max(p k_A, q k_B) t_w but for one block
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 1
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.algorithm import Algorithm, Case
from collectives.full_duplex import (
    ALLGATHER,
    ALLGATHERV,
    PARAMETERS,
    gather_parts,
    on_paper,
    parts_on_paper,
    pieces_of_all,
    runs_of_all,
    sides,
)
from collectives.groups import Placed, beside, in_a_row, misfit, scratch_in, sent_in
from collectives.messages import exchange
from collectives.protocol import Buffer, Comm, Intercomm
from collectives.schedule import Round, Schedule, Transfer, without_empty


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
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    rank, s = inter.Get_rank(), sides(inter, local, sendbuf, recvbuf)
    own, other = (s.p, s.q) if s.in_a else (s.q, s.p)
    ALGORITHM.check(Case(own, q=other, parameters={"allgather": allgather, "allgatherv": allgatherv}))
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


def schedule(case: Case) -> Schedule | None:
    return in_a_row(_exchanges(case), beside(_parts(case)))


def fits(case: Case) -> str | None:
    return misfit(_parts(case))


def closed_sent(case: Case, rank: int) -> int | None:
    own = case.m if rank < case.p else case.m_b
    gathered = sent_in(_parts(case), rank)
    return None if gathered is None else own + gathered


def scratch(case: Case, rank: int) -> int:
    return scratch_in(_parts(case), rank)


def _exchanges(case: Case) -> Iterator[Round]:
    s, a, b, itemsize = on_paper(case)
    for c in range(s.runs.largest):
        runs = [j for j in range(s.q) if c < s.runs.size(j)]
        there = [Transfer(a[s.runs.start(j) + c], b[j], s.k_a * itemsize) for j in runs]
        back = [Transfer(b[j], a[s.runs.start(j) + c], s.pieces(j).size(c) * itemsize) for j in runs]
        yield without_empty(there + back)


def _parts(case: Case) -> list[Placed]:
    s, a, b, _ = on_paper(case)
    return [
        parts_on_paper(pieces_of_all(s.p, s.q, s.k_b), a, case, ALGORITHM),
        parts_on_paper(runs_of_all(s.p, s.q, s.k_a), b, case, ALGORITHM),
    ]


ALGORITHM = Algorithm(
    operation="allgather",
    name="full_duplex",
    kind="inter",
    run=allgather_full_duplex,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_sent=closed_sent,
    parameters=PARAMETERS,
)
