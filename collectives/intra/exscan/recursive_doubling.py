"""Exscan by recursive doubling: groups of ranks double, and data from lower ranks are combined with the prefix.

Rank r holds the result of its group, initially its own operand, and its prefix, initially empty. In round k = 0 ..
ceil(log2 p) - 1 it exchanges the group's result with the rank whose number differs in bit k, if that rank exists. Data
from the lower ranks are left operands for the group's result and the prefix; data from higher ranks are right operands
for the group's result (`patterns.prefixes`). The `recvbuf` of rank 0 is unchanged.

    p = 4     start      k = 0      k = 1               (the prefix, and the group's result while it is needed)
    rank 0    .   0      .   01     .
    rank 1    .   1      0   01     0
    rank 2    .   2      .   23     01
    rank 3    .   3      2   23     012

Rounds   ceil(log2 p)    Sent per rank   at most m ceil(log2 p) bytes    Scratch   2 m bytes
Time     d (t_s + m t_w) + (2d - 2) m c; d = ceil(log2 p); if p is not a power of two and c > 0, the time is computed
         from the schedule
Fits     any p; any op, in rank order
Bits     depend on the operands only
Best     short messages: fewest rounds
Source   folklore, the hypercube prefix of the textbooks; Träff, Communication Round and Computation Efficient
         Exclusive Prefix-Sums Algorithms (for MPI_Exscan), 2025, doi:10.34726/10821, has a better one
"""

from collectives.patterns.prefixes.doubling import prefix_claims, prefixes
from collectives.patterns.prefixes.families import exscan

exscan_recursive_doubling = exscan(__name__, prefixes, **prefix_claims(inclusive=False))
