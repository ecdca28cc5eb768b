"""Allgather by Bruck's algorithm: the run of blocks that a rank holds doubles in every round, for any p.

Rank r holds a run of blocks that starts with its own: r, r+1, ... (mod p). In round k it sends the run to r - 2^k and
receives the run of r + 2^k, which continues its own. In the last round only the missing blocks are sent. At the end
each rank rotates its run so that block 0 is first (`patterns.runs`).

    p = 4     start      k = 0      k = 1      rotated
    rank 0    0          01         0123       0123
    rank 1    1          12         1230       0123
    rank 2    2          23         2301       0123
    rank 3    3          30         3012       0123

Rounds   ceil(log2 p)    Sent per rank   (p-1) m bytes    Scratch   p m bytes, rank 0 none
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     short blocks: fewest rounds and least data for any p; costs a rotation of the result
Source   Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
         message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), doi:10.1109/71.642949
"""

from functools import partial

from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.patterns.families import allgather
from collectives.patterns.runs import doubling_skips, gather_runs, growing
from collectives.tools.numbers import ceil_log2

allgather_bruck = allgather(
    __name__,
    partial(gather_runs, doubling_skips),
    closed_sent=all_but_own,
    **growing(doubling_skips),
    closed_time=all_blocks(ceil_log2),
)
