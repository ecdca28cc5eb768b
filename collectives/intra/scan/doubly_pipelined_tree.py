"""Scan by a doubly pipelined binary tree: segments of sums go up and segments of prefixes go down at the same time.

Rank r is in the middle of the ranks of its subtree. It receives the sum of its left subtree, the ranks directly below r, and
that of its right subtree, combines both with its operand and sends the result to its parent. It receives from its parent
the prefix of its subtree, sends it to its left child, combines it with the sum of its left subtree and its operand, which
gives its own result, and sends this to its right child. The message is cut into n segments of at most `segment_bytes`. In
one exchange per edge and segment, a later segment goes up and an earlier one goes down (`patterns.prefixes.tree`).

    p = 4, n = 1    start   1st     2nd     3rd     4th         tree: 3 above 1, 1 above 0 and 2
    rank 0          0       0       0       0       0           1st: 2 -> 1
    rank 1          1       1       01      01      01          2nd: 0 -> 1
    rank 2          2       2       2       2       012         3rd: 1 -> 3
    rank 3          3       3       3       0123    0123        4th: 1 -> 2

Rounds   at most 3 n + 4 d - 5    Sent per rank   up to 3 m bytes    Scratch   up to 3 segments
Time     rounds (t_s + b t_w); for equal segments of b bytes and c = 0, otherwise computed from the schedule. With p > 3 and
         d = floor(log2 p), there are 3 n + 4 d - 7 rounds, one more if p = 1.5 2^d, and two more if p is larger than that;
         with p = 2 or 3, p-1 rounds per segment
Fits     any p; segment_bytes > 0; any op, in rank order
Bits     depend on p
Best     messages of medium length on many ranks: about 3 m t_w for any p
Source   Sanders, Träff, Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI 2006, doi:10.1007/11846802_15; times of the
         rounds and the tree for any p are our own
"""

from collectives.patterns.prefixes.families import scan
from collectives.patterns.prefixes.tree import tree_prefixes
from collectives.patterns.prefixes.tree_claims import tree_claims

scan_doubly_pipelined_tree = scan(__name__, tree_prefixes, **tree_claims(inclusive=True))
