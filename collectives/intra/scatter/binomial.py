"""Scatter by a binomial tree: half of the blocks go to one rank, which distributes them like the root.

With v = rank - root (mod p), rank v receives the blocks of its subtree v .. v + 2^k - 1, where 2^k is its lowest bit,
and sends to v + 2^(k-1), ..., v + 2, v + 1, where these exist, the blocks of their subtrees (`patterns.binomial`).

    p = 4     start      1st        2nd
    v = 0     0123       01..       0...
    v = 1     ....       ....       .1..
    v = 2     ....       ..23       ..2.
    v = 3     ....       ....       ...3

Rounds   ceil(log2 p)    Sent per rank   m bytes for each rank below it    Scratch   its subtree's blocks
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     short blocks: fewest rounds, and the root still sends each block once
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import all_blocks
from collectives.patterns.binomial import SCATTER_CLAIMS, scatter_down
from collectives.patterns.families import scatter
from collectives.patterns.trees import subtree
from collectives.tools.numbers import ceil_log2


def closed_sent(case: Case, rank: int) -> int:
    return (subtree((rank - case.root) % case.p, case.p) - 1) * case.m


# The gather in reverse: when the root has sent to its last child, all other subtrees are done as well.
scatter_binomial = scatter(
    __name__, scatter_down, closed_sent=closed_sent, **SCATTER_CLAIMS, closed_time=all_blocks(ceil_log2)
)
