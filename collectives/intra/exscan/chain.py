"""Exscan by a pipelined chain: segments of the prefixes follow each other along the ranks.

The message is cut into n segments of at most `segment_bytes`. Rank r receives segment k of its result from r-1 while it
sends segment k-1 of the next rank's result to r+1. It then combines a copy of segment k of its operand, as right operand,
with the received segment. Rank 0 sends its operand; its `recvbuf` is unchanged.

    p = 4, n = 3   start    1st      2nd      3rd      4th      5th       (number of operands in each received segment)
    rank 0         ...      ...      ...      ...      ...      ...
    rank 1         ...      1..      11.      111      111      111
    rank 2         ...      ...      2..      22.      222      222
    rank 3         ...      ...      ...      3..      33.      333

Rounds   n+p-2    Sent per rank   m bytes, the last rank none    Scratch   2 segments; the ends of the chain none
Time     (n+p-2) t_s + (m + (p-2) b) t_w; plus (m + (p-3) b) c; b is the longest segment
Fits     any p; segment_bytes > 0; any op, in rank order
Bits     depend on the operands only
Best     long messages on few ranks: about m (t_w + c), near the lower bound once n is well above p
Source   folklore; Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI 2006, doi:10.1007/11846802_15,
         compare it with pipelined trees
"""

from collectives.patterns.prefixes.chain import chain_claims, chain_prefixes
from collectives.patterns.prefixes.families import exscan

exscan_chain = exscan(__name__, chain_prefixes, **chain_claims(inclusive=False))
