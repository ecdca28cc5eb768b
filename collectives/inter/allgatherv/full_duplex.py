"""Allgatherv between groups, full duplex: the other group's bytes in equal pieces, one for each rank, then both gather.

The K_A elements of A, in rank order, are cut into q nearly equal pieces, one for each rank of B; a_i sends to b_k what
its block and piece k have in common. B does the same with p pieces for A, at the same time. To know where its block
lies, a rank adds up its group's block sizes by `allreduce` and those of lower ranks by `exscan`, one count of 8 bytes
each. Then both groups gather to all what they received, which lies in rank order: by `allgather` where the pieces are
equal, else by `allgatherv`. Both sides do the same, so nobody need know which is A.

In which order pieces are sent and received says `between.even_cut`; `receive_order="rank"` shows what that is worth.

    p = 4, q = 2, blocks 0, 11, 2222, 3 of A: pieces 0112 and 2223; a_2 sends to both
              start     1st             2nd             3rd             gathered
    b_0       ....      ...2 from a_2   0..2 from a_0   0112 from a_1   01122223
    b_1       ....      ...3 from a_3   2223 from a_2                   01122223

Rounds   no closed form    Sent per rank   own block + its parts'    Scratch   its parts'
Time     at most (M + k + p + q) t_w; M = max(K_A, K_B) of the totals, k the longest block, beside startups and counts
         (Theorem 3; p + q bytes are for sizes that do not divide); by the schedule's recurrence, exact. Its sends wait for
         their receives, so this holds whatever is buffered. (A step of the proof, ceil(K_A / q) <= max k_A, needs p <= q)
Fits     any p and q; receive_order "multi_target" or "rank"
Best     long blocks of any sizes: the lower bound max(K_A, K_B) t_w but for one block
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collectives.between.even_cut import exchange_on_paper, exchange_pieces, gathered_pieces, unknown_order
from collectives.between.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.between.groups import Placed, beside, check_call, in_a_row, misfit, numbers, place, scratch_in, sent_in
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Schedule
from collectives.intra.allreduce import recursive_doubling as allreduce_doubling
from collectives.intra.exscan import recursive_doubling as exscan_doubling
from collectives.shapes.reductions import ADD
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import Unbuffered, UnbufferedBetween

ALLREDUCE, EXSCAN = allreduce_doubling.ALGORITHM, exscan_doubling.ALGORITHM
COUNT_BYTES = 8


def allgatherv_full_duplex(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    allgather: Algorithm = ALLGATHER,
    allgatherv: Algorithm = ALLGATHERV,
    allreduce: Algorithm = ALLREDUCE,
    exscan: Algorithm = EXSCAN,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    parameters = {"allgather": allgather, "allgatherv": allgatherv, "allreduce": allreduce, "exscan": exscan}
    own, other = check_call(ALGORITHM, inter, local, {**parameters, "receive_order": receive_order})
    inter, local = UnbufferedBetween(inter), Unbuffered(local)
    blocks = Layout.of_ranks(counts, other)
    total = blocks.size(0, other)
    if recvbuf.size < total:
        raise ValueError(f"a buffer of {recvbuf.size} elements cannot hold blocks of {total} in all")
    size, own_total, start = np.array([sendbuf.size], np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    allreduce.run(local, size, own_total, op=ADD, tag=tag)
    exscan.run(local, size, start, op=ADD, tag=tag)
    exchange_pieces(inter, sendbuf, int(start[0]), int(own_total[0]), recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf[0:total], nearly_equal_sizes(total, own), allgather, allgatherv, tag)


def schedule(case: Case) -> Schedule | None:
    order = ALGORITHM.parameter(case, "receive_order")
    return in_a_row(_free_sums(case), exchange_on_paper(case, order), beside(gathered_pieces(case)))


def fits(case: Case) -> str | None:
    parts = [*_counting(case), *gathered_pieces(case)]
    return unknown_order(ALGORITHM.parameter(case, "receive_order")) or misfit(parts)


def closed_sent(case: Case, rank: int) -> int | None:
    in_a, there = place(case, rank)
    own = case.groups[0 if in_a else 1].layout.size(there) * case.itemsize
    parts = sent_in([*_counting(case), *gathered_pieces(case)], rank)
    return None if parts is None else own + parts


def scratch(case: Case, rank: int) -> int:
    return scratch_in([*_counting(case), *gathered_pieces(case)], rank)


def _counting(case: Case) -> list[Placed]:
    names = ("allreduce", "exscan")
    return [
        (ALGORITHM.parameter(case, name), Case(len(ranks), COUNT_BYTES, itemsize=COUNT_BYTES), ranks)
        for name in names
        for ranks in numbers(case)
    ]


def _free_sums(case: Case) -> Schedule | None:
    """The counting; adding two counts is local work like any other, not the combining of operands."""
    plan = beside(_counting(case))
    return None if plan is None else ([t._replace(combined=0) for t in transfers] for transfers in plan)


ALGORITHM = Algorithm(
    operation="allgatherv",
    name="full_duplex",
    kind="inter",
    run=allgatherv_full_duplex,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_sent=closed_sent,
    parameters={
        "allgather": ALLGATHER,
        "allgatherv": ALLGATHERV,
        "allreduce": ALLREDUCE,
        "exscan": EXSCAN,
        "receive_order": "multi_target",
    },
)
