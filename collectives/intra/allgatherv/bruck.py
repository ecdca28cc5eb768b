"""Allgatherv by Bruck's algorithm: the run of blocks that a rank holds doubles in every round, for any p.

The algorithm is that of allgather by Bruck's algorithm, for blocks of different sizes. Runs without data are not sent.

    p = 4, counts 2, 0, 1, 3     start      k = 0      k = 1      rotated
    rank 0                       00         00         002333     002333
    rank 1                                  2          233300     002333
    rank 2                       2          2333       233300     002333
    rank 3                       333        33300      333002     002333

Rounds   at most ceil(log2 p)    Sent per rank   the runs as they grow    Scratch   all blocks, rank 0 none
Time     computed from the schedule; ceil(log2 p) t_s + (p-1) m t_w for equal blocks of m bytes
Fits     any p
Best     short blocks: fewest rounds for any p; costs a rotation of the result
Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
         message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), doi:10.1109/71.642949
"""

from functools import partial

from collectives.patterns.families import allgatherv
from collectives.patterns.runs import doubling_skips, gather_runs, growing

allgatherv_bruck = allgatherv(__name__, partial(gather_runs, doubling_skips), **growing(doubling_skips))
