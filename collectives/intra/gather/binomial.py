"""Gather by a binomial tree: neighbors join their blocks, then pairs join theirs, and so on up to the root.

With v = rank - root (mod p), rank v receives the blocks of the subtrees of v + 1, v + 2, v + 4, ... below its lowest
bit 2^k, where these exist, and sends the run v .. v + 2^k - 1 to v - 2^k (`patterns.binomial`).

    p = 4     start      1st        2nd
    v = 0     0...       01..       0123
    v = 1     .1..
    v = 2     ..2.       ..23
    v = 3     ...3

Rounds   ceil(log2 p)    Sent per rank   m bytes for each rank of its subtree    Scratch   its subtree's blocks
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     short blocks: fewest rounds, and the root still receives each block once
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collectives.catalogue.closed_forms import all_blocks
from collectives.patterns.binomial import GATHER_CLAIMS, gather_up
from collectives.patterns.families import gather
from collectives.tools.numbers import ceil_log2

# The root receives without idle time. All its subtrees except the last are complete: the child of a complete subtree has
# gathered it when the root has received all smaller ones. The last subtree is not larger than a complete one.
gather_binomial = gather(__name__, gather_up, **GATHER_CLAIMS, closed_time=all_blocks(ceil_log2))
