"""Allgather by ring: every rank forwards the blocks from its left neighbor to its right neighbor.

In round k = 0 .. p-2 rank r sends block r-k to r+1 and receives block r-k-1 from r-1 (mod p).

    p = 4     start      k = 0      k = 1      k = 2
    rank 0    0...       0..3       0.23       0123
    rank 1    .1..       01..       01.3       0123
    rank 2    ..2.       .12.       012.       0123
    rank 3    ...3       ..23       .123       0123

Rounds   p-1                    Sent per rank   (p-1) m bytes    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks: no rank sends more than necessary, and only to a neighbor; latency is linear in p
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.patterns.families import allgather
from collectives.patterns.ring import GATHER_AROUND_CLAIMS, gather_around

allgather_ring = allgather(__name__, gather_around, **GATHER_AROUND_CLAIMS)
