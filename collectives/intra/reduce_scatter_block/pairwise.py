"""Reduce_scatter_block by pairwise exchange: in every round the ranks form pairs, and each sends its partner's block.

If p is a power of two, rank r is paired with r xor i in round i = 1 .. p-1. Otherwise the rounds are those of a
round-robin tournament (`patterns.pairs`): p-1 rounds if p is even; p rounds if p is odd, in which every rank is idle
once. Rank r sends block s of its operand to its partner s, and combines block r of the partner's operand, which it
receives, with its partial result of block r. With `partners="spread"`, rank r sends to r+i and receives from r-i (mod p)
in round i = 1 .. p-1, for any p.

    p = 4     start    i = 1    i = 2    i = 3      (block r of rank r: the ranks whose operands it contains)
    rank 0    0        01       012      0123
    rank 1    1        01       013      0123
    rank 2    2        23       023      0123
    rank 3    3        23       123      0123

Rounds   p-1; p if odd and not spread    Sent per rank   all blocks but its own    Scratch   its own block
Time     (p-1) (t_s + m t_w + m c); p (t_s + m t_w + m c) if p is odd and not spread
Fits     any p; commutative ops; partners "tournament" or "spread"; blocks of equal size
Bits     depend on p, position
Best     long blocks: the least data, and the operand is not copied
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (spread); MPICH uses
         these partners
"""

from collectives.patterns.families import reduce_scatter_block
from collectives.patterns.pair_reductions import PAIRWISE_CLAIMS, scatter_pairs

reduce_scatter_block_pairwise = reduce_scatter_block(__name__, scatter_pairs, **PAIRWISE_CLAIMS)
