"""Allgatherv by ring: every rank forwards the blocks from its left neighbor to its right neighbor.

In round k = 0 .. p-2 rank r sends block r-k to r+1 and receives block r-k-1 from r-1 (mod p). Empty blocks are not
sent. The largest block makes p-1 hops one after the other, and no round lasts longer than one of these hops. The largest
block therefore determines the time.

    p = 4, counts 2, 0, 1, 3     start       k = 0       k = 1       k = 2
    rank 0                       00....      00.333      002333      002333
    rank 1                       ......      00....      00.333      002333
    rank 2                       ..2...      ..2...      002...      002333
    rank 3                       ...333      ..2333      ..2333      002333

Rounds   p-1    Sent per rank   all blocks except that of r+1    Scratch   none
Time     (p-1) (t_s + b t_w); b is the largest block
Fits     any p
Best     long blocks of similar size
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16 (the algorithm that the paper improves)
"""

from collectives.patterns.families import allgatherv
from collectives.patterns.ring import GATHER_AROUND_CLAIMS, gather_around

allgatherv_ring = allgatherv(__name__, gather_around, **GATHER_AROUND_CLAIMS)
