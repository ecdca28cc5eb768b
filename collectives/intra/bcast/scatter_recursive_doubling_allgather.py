"""Broadcast by scatter and recursive doubling: the root scatters the message, then an allgather collects the pieces.

The message is cut into p nearly equal pieces, counted from the root: v = rank - root (mod p) is a rank and its piece. A
binomial scatter sends rank v its piece. In round k = 0 .. ceil(log2 p) - 1 rank v then exchanges the 2^k pieces that it
has, whose numbers agree with v above bit k, with the rank whose number differs in bit k. If p is not a power of two,
ranks without a partner receive the pieces from another rank (`patterns.butterflies.doubling`).

    p = 4     start    scatter           exchanges
    v = 0     0123     0123     0123     0123     0123
    v = 1     ....     ....     .1..     01..     0123
    v = 2     ....     ..23     ..23     ..23     0123
    v = 3     ....     ....     ...3     ..23     0123

Rounds   2 log2 p; more if p is not a power of two    Sent per rank   (p-1)/p m + its share of the scatter
         Scratch   none
Time     2 log2 p t_s + 2 (p-1)/p m t_w; if p is not a power of two or does not divide the message, the time is computed
         from the schedule
Fits     any p
Best     messages of medium length: twice the lower bound m t_w, at twice the fewest rounds
Source   Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, Interprocessor collective communication library, SHPCC
         1994, doi:10.1109/SHPCC.1994.296665; Thakur, Rabenseifner, Gropp 2005, doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import nonempty_round
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.binomial import scatter_pieces, scatter_pieces_schedule
from collectives.patterns.butterflies.doubling import doubling_steps
from collectives.patterns.butterflies.doubling_rounds import doubling_rounds
from collectives.patterns.plans.array_plans import sizes_of
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.numbers import floor_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm


def _ends(blocks: Sequence[int]) -> tuple[int, int]:
    """First and end of adjacent pieces."""
    return (blocks[0], blocks[-1] + 1) if blocks else (0, 0)


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, Layout.nearly_equal(case.elements, case.p)
    yield from scatter_pieces_schedule(pieces, case.itemsize, case.root)
    ranks = (case.root + np.arange(p)) % p  # by place v
    for messages in doubling_rounds(p):
        dest, nbytes = messages(sizes_of(pieces, case.itemsize))
        yield nonempty_round(ranks, ranks[dest], nbytes)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    p = case.p
    if case.elements % p or not is_power_of_two(p):
        return None
    return 2 * floor_log2(p) * t_s + 2 * (p - 1) * (case.m // p) * t_w if case.m else 0


@algorithm(schedule=schedule, closed_time=closed_time)
def bcast_scatter_recursive_doubling_allgather(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    pieces = Layout.nearly_equal(buf.size, p)
    scatter_pieces(comm, buf, pieces, root, tag)
    for step in doubling_steps(p, (rank - root) % p):
        outgoing, incoming = (pieces.block(buf, *_ends(blocks)) for blocks in (step.sent, step.received))
        exchange(comm, outgoing, (root + step.dest) % p, incoming, (root + step.source) % p, tag)
