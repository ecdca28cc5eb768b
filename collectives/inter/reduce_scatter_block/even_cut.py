"""Reduce_scatter_block between groups by an even cut: each group reduces in pieces, which are sent to their owners.

Each group runs a `reduce_scatter` of its operands in nearly equal pieces, one per rank, both groups at once. A rank
then sends its piece to the ranks of the other group whose blocks it overlaps, in the order of
`inter_patterns.even_cut`, in both directions at once. The code does not check that all operands have the same length,
as MPI requires.

    p = 4, q = 2      start    reduced    delivered       (number of operands in each block; there are 4 blocks)
    a_0               1111     4...       2...
    a_1 a_2 a_3       1111     .4..       .2.. and so on
    b_0               1111     22..       44..
    b_1               1111     ..22       ..44

Rounds   no closed form    Sent per rank   pieces + parts    Scratch   own piece + parts
Time     about (1 + 1/min(p, q)) K t_w; all blocks together have K = p m bytes; the exact terms have factors (p-1)/p and
         (q-1)/q, and start-ups are added; the exact time is computed from the schedule. All sends are synchronous, so
         the time does not depend on buffering
Fits     any p and q; cases that `reduce_scatter` supports; both groups' blocks of the same total size; receive_order
         "multi_target" or "rank"
Bits     depend on p, position
Best     long blocks: the lower bound is K t_w; twice that if one group has a single rank and the other is large
Source   fakempi; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI
         Intergroup Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from collectives.inter_patterns.families import reduce_scatter_block
from collectives.inter_patterns.reduce_and_deliver import deliver_equal, delivery_claims

reduce_scatter_block_even_cut = reduce_scatter_block(__name__, deliver_equal, **delivery_claims(deliver_equal))
