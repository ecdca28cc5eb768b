"""Allgatherv on a circulant graph: the number of blocks that a rank holds about doubles in each round, for any p.

The algorithm is that of allgather on a circulant graph, for blocks of different sizes. A rank sends a run of consecutive
blocks in each round; runs without data are not sent.

    p = 4, counts 2, 0, 1, 3     start      k = 0      k = 1      rotated
    rank 0                       00         00         002333     002333
    rank 1                                  2          233300     002333
    rank 2                       2          2333       233300     002333
    rank 3                       333        33300      333002     002333

Rounds   at most ceil(log2 p)    Sent per rank   a run of blocks per round    Scratch   all blocks, rank 0 none
Time     computed from the schedule; ceil(log2 p) t_s + (p-1) m t_w for equal blocks of m bytes
Fits     any p
Best     short blocks: fewest rounds for any p, with a shorter last message than Bruck's; costs a rotation of the result
Source   Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
         and All-Reduction, 2024, arXiv:2407.18004, doi:10.1145/3735139 (the graph); Träff, Optimal, Non-pipelined
         Reduce-scatter and Allreduce Algorithms, 2024, arXiv:2410.14234 (the allgather)
"""

from functools import partial

from collectives.patterns.circulant import skips
from collectives.patterns.families import allgatherv
from collectives.patterns.runs import gather_runs, growing

allgatherv_circulant = allgatherv(__name__, partial(gather_runs, skips), **growing(skips))
