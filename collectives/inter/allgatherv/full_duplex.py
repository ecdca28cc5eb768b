"""Allgatherv between groups, full duplex: the other group's bytes in equal pieces, one for each rank, then both gather.

The K_A elements of A, in rank order, are cut into q nearly equal pieces, one for each rank of B; a_i sends to b_k what
its block and piece k have in common. B does the same with p pieces for A, at the same time. To know where its block
lies, a rank adds up its group's block sizes by `allreduce` and those of lower ranks by `exscan`, one count of 8 bytes
each. Then both groups gather to all what they received, which lies in rank order: by `allgather` where the pieces are
equal, else by `allgatherv`. Both sides do the same, so nobody need know which is A.

A rank serves its receivers in rank order. As a receiver it takes first its highest sender if that one also sends to
others (it is the first on that sender's list), then those in between in rank order, and last its lowest sender if that
one also sends to others (it is the last on that one's list): so nobody waits long for anybody. `receive_order="rank"`
takes them in rank order instead, to see what the order is worth.

    p = 4, q = 2, blocks 0, 11, 2222, 3 of A: pieces 0112 and 2223; a_2 sends to both
              start     1st             2nd             3rd             gathered
    b_0       ....      ...2 from a_2   0..2 from a_0   0112 from a_1   01122223
    b_1       ....      ...3 from a_3   2223 from a_2                   01122223

Rounds   no closed form    Sent per rank   own block + its parts'    Scratch   its parts'
Time     at most (M + k + p + q) t_w; M = max(K_A, K_B) of the totals, k the longest block, beside startups and counts
         (Theorem 3; p + q bytes are for sizes that do not divide); by the schedule's recurrence, exact
Fits     any p and q; receive_order "multi_target" or "rank"
Best     long blocks of any sizes: the lower bound max(K_A, K_B) t_w but for one block
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from collectives.between.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.between.full_duplex_claims import parts_on_paper
from collectives.between.groups import Placed, beside, check_call, in_a_row, misfit, numbers, place, scratch_in, sent_in
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Schedule, Streams, Transfer
from collectives.intra.allreduce import recursive_doubling as allreduce_doubling
from collectives.intra.exscan import recursive_doubling as exscan_doubling
from collectives.shapes.reductions import ADD
from collectives.tools.blocks import Layout
from collectives.tools.messages import two_streams
from collectives.tools.protocol import Buffer, Comm, Intercomm

ALLREDUCE, EXSCAN = allreduce_doubling.ALGORITHM, exscan_doubling.ALGORITHM
ORDERS = ("multi_target", "rank")
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
    rank = inter.Get_rank()
    blocks = Layout.of_ranks(counts, other)
    total = blocks.size(0, other)
    if recvbuf.size < total:
        raise ValueError(f"a buffer of {recvbuf.size} elements cannot hold blocks of {total} in all")
    size, own_total, start = np.array([sendbuf.size], np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    allreduce.run(local, size, own_total, op=ADD, tag=tag)
    exscan.run(local, size, start, op=ADD, tag=tag)
    before, after = int(start[0]), int(start[0]) + sendbuf.size
    outgoing = [
        (k, sendbuf[low - before : high - before])
        for k, low, high in overlaps(before, after, Layout.nearly_equal(int(own_total[0]), other))
    ]
    pieces = Layout.nearly_equal(total, own)
    incoming = [
        (k, recvbuf[low:high])
        for k, low, high in senders(pieces.start(rank), pieces.start(rank + 1), blocks, receive_order)
    ]
    two_streams(inter, outgoing, incoming, tag)
    gather_parts(local, recvbuf[0:total], nearly_equal_sizes(total, own), allgather, allgatherv, tag)


def overlaps(start: int, stop: int, layout: Layout) -> Iterator[tuple[int, int, int]]:
    """The blocks that elements start .. stop-1 lie in, each with the elements that they have in common.

    >>> list(overlaps(3, 8, Layout.of([5, 0, 2, 4])))
    [(0, 3, 5), (2, 5, 7), (3, 7, 8)]
    """
    while start < stop:
        k = layout.at(start)
        end = min(stop, layout.start(k + 1))
        yield k, start, end
        start = end


def senders(start: int, stop: int, blocks: Layout, order: str) -> list[tuple[int, int, int]]:
    """Whose blocks elements start .. stop-1 come from, in the order in which they are received.

    >>> senders(2, 9, Layout.of([4, 1, 1, 1, 4]), "multi_target")
    [(4, 7, 9), (1, 4, 5), (2, 5, 6), (3, 6, 7), (0, 2, 4)]
    """
    found = list(overlaps(start, stop, blocks))
    if order == "rank" or len(found) < 2:
        return found
    highest, lowest = found[-1], found[0]
    if blocks.start(highest[0] + 1) > stop:
        found.insert(0, found.pop())
    if blocks.start(lowest[0]) < start:
        found.append(found.pop(found.index(lowest)))
    return found


def schedule(case: Case) -> Schedule | None:
    return in_a_row(_free_sums(case), _exchanges(case), beside(_gathering(case)))


def fits(case: Case) -> str | None:
    order = ALGORITHM.parameter(case, "receive_order")
    if order not in ORDERS:
        return f"receive_order is {order!r}, not one of {', '.join(ORDERS)}"
    return misfit([*_counting(case), *_gathering(case)])


def closed_sent(case: Case, rank: int) -> int | None:
    in_a, there = place(case, rank)
    own = case.groups[0 if in_a else 1].layout.size(there) * case.itemsize
    parts = sent_in([*_counting(case), *_gathering(case)], rank)
    return None if parts is None else own + parts


def scratch(case: Case, rank: int) -> int:
    return scratch_in([*_counting(case), *_gathering(case)], rank)


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


def _exchanges(case: Case) -> Iterator[Round]:
    order = ALGORITHM.parameter(case, "receive_order")
    (a, b), (in_a, in_b) = case.groups, numbers(case)
    sends: list[Transfer] = []
    received: list[tuple[int, int]] = []
    for source, sources, dests in ((a, in_a, in_b), (b, in_b, in_a)):
        blocks = source.layout
        pieces = Layout.nearly_equal(blocks.size(0, source.p), len(dests))
        for i, number in enumerate(sources):
            for k, low, high in overlaps(blocks.start(i), blocks.start(i + 1), pieces):
                sends.append(Transfer(number, dests[k], (high - low) * case.itemsize))
        for k, number in enumerate(dests):
            found = senders(pieces.start(k), pieces.start(k + 1), blocks, order)
            received += [(sources[i], number) for i, _, _ in found]
    yield Streams(sends, received)


def _gathering(case: Case) -> list[Placed]:
    (a, b), (in_a, in_b) = case.groups, numbers(case)
    k_a, k_b = a.layout.size(0, a.p), b.layout.size(0, b.p)
    return [
        parts_on_paper(nearly_equal_sizes(k_b, case.p), in_a, case),
        parts_on_paper(nearly_equal_sizes(k_a, case.q), in_b, case),
    ]


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
