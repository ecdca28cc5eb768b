"""Allgatherv by neighbor exchange: every rank alternates between its two neighbors, two blocks at a time.

The algorithm is that of allgather by neighbor exchange, for blocks of different sizes. Pairs of empty blocks are not
sent.

    p = 4, counts 2, 0, 1, 3     start       i = 0       i = 1
    rank 0                       00....      00....      002333
    rank 1                       ......      00....      002333
    rank 2                       ..2...      ..2333      002333
    rank 3                       ...333      ..2333      002333

Rounds   p/2    Sent per rank   all blocks but its own, or more    Scratch   none
Time     computed from the schedule; p/2 t_s + (p-1) m t_w for equal blocks of m bytes
Fits     p even (or 1)
Best     long blocks of similar size where neighbors are close: half the rounds of the ring
Source   Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on terascale Linux cluster with fast
         Ethernet, HPC Asia 2005, doi:10.1109/HPCASIA.2005.75
"""

from collectives.catalogue.conditions import even_only
from collectives.patterns.plans.families import planned_allgatherv
from collectives.patterns.plans.neighbors import neighbor_plan

allgatherv_neighbor_exchange = planned_allgatherv(__name__, neighbor_plan, why_unsupported=even_only)
