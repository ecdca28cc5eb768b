"""Exscan by a doubly pipelined binary tree: segments of sums go up and segments of prefixes go down at the same time.

The tree, the messages and the pipeline are those of scan doubly_pipelined_tree. A rank keeps two values per segment: the sum
of its left subtree, which it combines with the prefix of its subtree to its result, and the same with its operand, which it
sends to its right child. A leaf receives its result from its parent. The `recvbuf` of rank 0 is unchanged.

    p = 4, n = 1    start   1st     2nd     3rd     4th         tree: 3 above 1, 1 above 0 and 2
    rank 0          .       .       .       .       .           1st: 2 -> 1
    rank 1          .       .       0       0       0           2nd: 0 -> 1
    rank 2          .       .       .       .       01          3rd: 1 -> 3
    rank 3          .       .       .       012     012         4th: 1 -> 2

Rounds   at most 3 n + 4 d - 5    Sent per rank   up to 3 m bytes    Scratch   up to m + 2 segments; leaves none
Time     rounds (t_s + b t_w); for equal segments of b bytes and c = 0, as scan doubly_pipelined_tree
Fits     any p; segment_bytes > 0; any op, in rank order
Bits     depend on p
Best     messages of medium length on many ranks: about 3 m t_w for any p
Source   Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI 2006, doi:10.1007/11846802_15; times of the
         rounds and the tree for any p are our own
"""

from collectives.patterns.prefixes.families import exscan
from collectives.patterns.prefixes.tree import tree_prefixes
from collectives.patterns.prefixes.tree_claims import tree_claims

exscan_doubly_pipelined_tree = exscan(__name__, tree_prefixes, **tree_claims(inclusive=False))
