"""Allgatherv between groups, full duplex: each rank receives an equal piece of the other group's data, then both gather.

The K_A elements of A, in rank order, are cut into q nearly equal pieces, one for each rank of B; a_i sends to b_k the
intersection of its block with piece k. B does the same with p pieces for A, at the same time. To find the position of
its block, a rank sums its group's block sizes by `allreduce` and those of lower ranks by `exscan`, one count of 8 bytes
each. Then both groups gather the received data, already in rank order, to all their ranks: by `allgather` if the pieces
are equal, otherwise by `allgatherv`. Both sides do the same, so no rank needs to know which group is A.

`inter_patterns.even_cut` defines the order of sends and receives; `receive_order="rank"` is for comparison.

    p = 4, q = 2, blocks 0, 11, 2222, 3 of A: pieces 0112 and 2223; a_2 sends to both
              start     1st             2nd             3rd             gathered
    b_0       ....      ...2 from a_2   0..2 from a_0   0112 from a_1   01122223
    b_1       ....      ...3 from a_3   2223 from a_2                   01122223

Rounds   no closed form    Sent per rank   own block + parts    Scratch   parts
Time     at most (M + k + max(p, q) - 1) t_w; M = max(K_A, K_B) of the totals, k the longest block, plus start-ups and
         counts, with a ring or Bruck's algorithm inside; docs/papers/kang.md has the proof. (Theorem 3 has no term for
         sizes that do not divide, and log(pq) bytes for all counts; a step of its proof, ceil(K_A / q) <= max k_A,
         requires p <= q.) The exact time is computed from the schedule. All sends are synchronous, so the time does not
         depend on buffering
Fits     any p and q; receive_order "multi_target" or "rank"
Best     long blocks of any sizes: the lower bound max(K_A, K_B) t_w plus at most one block
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.even_cut import exchange_pieces, exchange_pieces_schedule, gathered_pieces, unknown_order
from collectives.inter_patterns.full_duplex import ALLGATHER, ALLGATHERV, gather_parts, nearly_equal_sizes
from collectives.inter_patterns.groups import (
    Step,
    checked_sizes,
    group_and_rank,
    in_both_groups,
    part_claims,
    without_combining,
)
from collectives.intra.allreduce.recursive_doubling import allreduce_recursive_doubling
from collectives.intra.exscan.recursive_doubling import exscan_recursive_doubling
from collectives.patterns.reductions import ADD
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import SynchronousComm, UnbufferedBetween

COUNT_BYTES = 8


def steps(case: Case) -> Iterator[Step]:
    for name in ("allreduce", "exscan"):
        part = without_combining(allgatherv_full_duplex.parameter(case, name))
        yield from in_both_groups(part, case, (COUNT_BYTES, COUNT_BYTES), itemsize=COUNT_BYTES)
    yield partial(exchange_pieces_schedule, case, allgatherv_full_duplex.parameter(case, "receive_order"))
    yield from gathered_pieces(case)


def sent(case: Case, rank: int) -> int:
    in_a, own = group_and_rank(case, rank)
    return case.groups[0 if in_a else 1].layout.size(own) * case.itemsize


@algorithm(**part_claims(steps, sent=sent, why_unsupported=unknown_order, synchronous=True))
def allgatherv_full_duplex(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    allgather: Algorithm = ALLGATHER,
    allgatherv: Algorithm = ALLGATHERV,
    allreduce: Algorithm = allreduce_recursive_doubling,
    exscan: Algorithm = exscan_recursive_doubling,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    own, other = checked_sizes(inter, local)
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    blocks = Layout.of_ranks(counts, other)
    total = blocks.size(0, other)
    if recvbuf.size < total:
        raise ValueError(f"a buffer of {recvbuf.size} elements is too small for all blocks, {total} elements")
    size, own_total, start = np.array([sendbuf.size], np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)
    allreduce.run(local, size, own_total, op=ADD, tag=tag)
    exscan.run(local, size, start, op=ADD, tag=tag)
    exchange_pieces(inter, sendbuf, int(start[0]), int(own_total[0]), recvbuf, blocks, receive_order, tag)
    gather_parts(local, recvbuf[0:total], nearly_equal_sizes(total, own), allgather, allgatherv, tag)
