"""Allgatherv by recursive doubling: groups of ranks double, and exchange the blocks of the whole group.

A group of size s = 1, 2, 4, ... is the ranks that agree in all bits from s upward. In round s a rank exchanges the
blocks of its group with the rank whose number differs in bit s. If p is not a power of two, ranks without a partner
receive the blocks from a rank of their own group (`patterns.butterflies.doubling`). Empty messages are not sent.

    p = 4, counts 2, 0, 1, 3     start       s = 1       s = 2
    rank 0                       00....      00....      002333
    rank 1                       ......      00....      002333
    rank 2                       ..2...      ..2333      002333
    rank 3                       ...333      ..2333      002333

Rounds   log2 p; more if p is not a power of two    Sent per rank   the groups as they grow    Scratch   none
Time     computed from the schedule; log2 p t_s + (p-1) m t_w for equal blocks of m bytes and p a power of two
Fits     any p
Best     short blocks if p is a power of two: fewest rounds, without a rotation of the result
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.patterns.butterflies.doubling_rounds import doubling_plan
from collectives.patterns.plans.families import planned_allgatherv

allgatherv_recursive_doubling = planned_allgatherv(__name__, doubling_plan)
