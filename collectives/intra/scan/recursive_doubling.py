"""Scan by recursive doubling: groups of ranks double in each round, and each rank updates its prefix.

Rank r holds two values: the result of its group, and its prefix, which is the result of the group's ranks up to r.
Initially the group is rank r alone, and both values are its operand. In round k = 0 .. ceil(log2 p) - 1 rank r exchanges
the group's result with the rank whose number differs in bit k, if that rank exists. Data from a lower rank are the left
operand of both values; data from a higher rank are the right operand of the group's result only (`patterns.prefixes`).

    p = 4     start      k = 0      k = 1               (the prefix, and the group's result while it is needed)
    rank 0    0   0      0   01     0
    rank 1    1   1      01  01     01
    rank 2    2   2      2   23     012
    rank 3    3   3      23  23     0123

Rounds   ceil(log2 p)    Sent per rank   at most m ceil(log2 p) bytes    Scratch   2 m bytes
Time     d (t_s + m t_w) + (2d - 1) m c; d = ceil(log2 p); if p is not a power of two and c > 0, the time is computed
         from the schedule
Fits     any p; any op, in rank order
Bits     depend on the operands only
Best     short messages: fewest rounds
Source   folklore, the hypercube prefix of the textbooks; Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI,
         EuroPVM/MPI 2006, doi:10.1007/11846802_15, compare other algorithms
"""

from collectives.patterns.prefixes.doubling import prefix_claims, prefixes
from collectives.patterns.prefixes.families import scan

scan_recursive_doubling = scan(__name__, prefixes, **prefix_claims(inclusive=True))
