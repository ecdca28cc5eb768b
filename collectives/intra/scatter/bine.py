"""Scatter by a Bine tree: a binomial tree with partners at negabinary distances, which are closer.

The ranks are a run of positions with the root inside it. The root sends the blocks of one half of the run to the root of
that half, and both continue in their halves (`plans.negabinary`, `patterns.run_trees`).

    p = 4     start      1st        2nd         root 0: positions are the ranks 2, 3, 0, 1
    rank 0    0123       01..       0...        1st: 0 -> 3
    rank 1    ....       ....       .1..        2nd: 0 -> 1, 3 -> 2
    rank 2    ....       ....       ..2.
    rank 3    ....       ..23       ...3

Rounds   ceil(log2 p)    Sent per rank   m bytes for each rank below it    Scratch   its subtree's blocks
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     short blocks where neighboring ranks are close: fewer bytes between groups than binomial
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; the rule for p that are not a power of two is fakempi's)
"""

from collectives.catalogue.closed_forms import all_blocks
from collectives.patterns.families import tree_scatter
from collectives.patterns.plans.negabinary import BINE
from collectives.tools.numbers import ceil_log2

# The gather in reverse.
scatter_bine = tree_scatter(__name__, lambda: BINE, closed_time=all_blocks(ceil_log2))
