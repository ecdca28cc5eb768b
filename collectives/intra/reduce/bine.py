"""Reduce by a Bine tree: a binomial tree with partners at negabinary distances, which are closer.

The broadcast by a Bine tree in reverse: the roots of two halves of a run of positions combine their results, from runs of
one position up to all ranks (`plans.negabinary`). A rank's operands are always those of a run, so operands are
combined in the order of positions. For a noncommutative op position 0 is rank 0, which preserves rank order, and the rank
at the root's position sends the result to the root.

    p = 4     start   1st     2nd         root 0: positions are the ranks 2, 3, 0, 1
    rank 0    0       01      2301        1st: 1 -> 0, 2 -> 3
    rank 1    1       .       .           2nd: 3 -> 0
    rank 2    2       .       .
    rank 3    3       23      .

Rounds   ceil(log2 p)    Sent per rank   m bytes, the root none    Scratch   2 m bytes; leaves none, the root m
Time     ceil(log2 p) (t_s + m t_w + m c); plus t_s + m t_w if the op is not commutative and the root of the tree is
         another rank
Fits     any p; any op, in rank order
Bits     depend on p, root
Best     short messages where neighboring ranks are close: up to a third fewer bytes between groups than binomial
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; the rule for p that are not a power of two is fakempi's)
"""

from collectives.patterns.plans.negabinary import BINE
from collectives.patterns.run_tree_messages import tree_reduce
from collectives.tools.numbers import ceil_log2

reduce_bine = tree_reduce(__name__, lambda: BINE, lambda case: ceil_log2(case.p))
