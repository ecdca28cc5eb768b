"""Allgatherv by Bruck's algorithm for short blocks that becomes a ring for long blocks.

The algorithm is that of allgather bruck_ring, for blocks of different sizes: n is the number of blocks of the largest
size that fit into run_bytes. Runs without data are not sent.

    p = 4, n = 2, counts 2, 0, 1, 3     start       k = 0       k = 1
    rank 0                              00....      00....      002333
    rank 1                              ......      ..2...      002333
    rank 2                              ..2...      ..2333      002333
    rank 3                              ...333      00.333      002333

Rounds   at most d + ceil(p/n) - 1; d = ceil(log2 n)    Sent per rank   its runs    Scratch   at most run_bytes
Time     computed from the schedule; (ceil(log2 n) + ceil(p/n) - 1) t_s + (p-1) m t_w for equal blocks of m bytes
Fits     any p; run_bytes > 0
Best     short blocks, and long blocks of similar size where a second copy of all blocks does not fit in memory
Source   Träff, Efficient Allgather for Regular SMP-Clusters, EuroPVM/MPI 2006, doi:10.1007/11846802_16: the gradual
         change, for equal blocks on nodes of several processes; this form is fakempi's
"""

from collectives.patterns.bounded_runs import BOUNDED_CLAIMS, gather_bounded_runs
from collectives.patterns.families import allgatherv

allgatherv_bruck_ring = allgatherv(__name__, gather_bounded_runs, **BOUNDED_CLAIMS)
