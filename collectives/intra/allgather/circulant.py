"""Allgather on a circulant graph: the number of blocks that a rank holds about doubles in each round, for any p.

Let q = ceil(log2 p). The skips are s_q = p, s_k = ceil(s_(k+1) / 2), down to s_0 = 1. Rank r holds a run of blocks that
starts with its own: r, r+1, ... (mod p). In round k = 0 .. q-1 it holds s_k blocks. It sends the first s_(k+1) - s_k of
them to rank r - s_k, receives the same number from rank r + s_k, and appends these to its run. At the end it rotates the run
so that block 0 is first. This is equivalent to p simultaneous broadcasts of one block on the graph, with all blocks of a
round packed into one message.

    p = 4     start      k = 0      k = 1      rotated          p = 6: runs of 1, 2, 3, 6 blocks
    rank 0    0          01         0123       0123
    rank 1    1          12         1230       0123
    rank 2    2          23         2301       0123
    rank 3    3          30         3012       0123

Rounds   ceil(log2 p)    Sent per rank   (p-1) m bytes    Scratch   p m bytes, rank 0 none
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     the same cases as Bruck; the runs grow more evenly, and this algorithm is the second half of the allreduce on
         the same graph
Source   Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2025, doi:10.34726/10760
"""

from functools import partial

from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.patterns.circulant import skips
from collectives.patterns.families import allgather
from collectives.patterns.runs import gather_runs, growing
from collectives.tools.numbers import ceil_log2

allgather_circulant = allgather(
    __name__, partial(gather_runs, skips), closed_sent=all_but_own, **growing(skips), closed_time=all_blocks(ceil_log2)
)
