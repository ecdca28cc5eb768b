"""Reduce_scatter by pairwise exchange: in every round the ranks form pairs, and each sends its partner's block.

The algorithm is that of reduce_scatter_block by pairwise exchange, for blocks of different sizes. With
`partners="spread"`, rank r sends to r+i and receives from r-i in round i = 1 .. p-1.

    p = 4, counts 2, 0, 1, 3     i = 1: 1 sends two elements to 0, 2 three to 3, 3 one to 2; no rank sends any to 1

Rounds   p-1; p if odd and not spread    Sent per rank   all blocks but its own    Scratch   its own block
Time     (p-1) (t_s + m t_w + m c); p (t_s + m t_w + m c) if p is odd and not spread; both for equal blocks of m bytes.
         For other blocks, computed from the schedule
Fits     any p; commutative ops; partners "tournament" or "spread"
Bits     depend on p, position
Best     long blocks: the least data, and the operand is not copied
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (spread); MPICH uses
         these partners
"""

from collectives.patterns.families import reduce_scatter
from collectives.patterns.pair_reductions import PAIRWISE_CLAIMS, scatter_pairs

reduce_scatter_pairwise = reduce_scatter(__name__, scatter_pairs, **PAIRWISE_CLAIMS)
