"""Reduce by a binomial tree: neighbors combine their operands, then pairs combine theirs, and so on up to the root.

With v = rank - root (mod p), rank v receives the partial results of v + 1, v + 2, v + 4, ... below its lowest bit 2^k,
where these exist, combines each with its own, and sends the result of v .. v + 2^k - 1 to v - 2^k. For a noncommutative
op the tree is that of root 0, which preserves rank order, and rank 0 sends the result to the root.

    p = 4     start   1st     2nd
    v = 0     0       01      0123
    v = 1     1       .       .
    v = 2     2       23      .
    v = 3     3       .       .

Rounds   ceil(log2 p)    Sent per rank   m bytes, the root none    Scratch   2 m bytes; leaves none, the root m
Time     ceil(log2 p) (t_s + m t_w + m c); plus t_s + m t_w if the op is not commutative and the root is not 0
Fits     any p; any op, in rank order
Bits     depend on root
Best     short messages: no reduce has fewer rounds
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.binomial import binomial_tree
from collectives.patterns.reductions import top_of
from collectives.patterns.run_tree_messages import tree_reduce
from collectives.patterns.trees import level, parent
from collectives.tools.numbers import ceil_log2


def schedule(case: Case) -> Iterator[Round]:
    p, m, top = case.p, case.m, top_of(case)
    if m:
        for k in range(ceil_log2(p)):
            yield [Transfer((top + v) % p, (top + parent(v)) % p, m, m) for v in level(k, p)]
        if top != case.root:
            yield [Transfer(top, case.root, m)]


reduce_binomial = tree_reduce(__name__, binomial_tree, lambda case: ceil_log2(case.p), schedule=schedule)
