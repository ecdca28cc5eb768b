r"""Binary trees through which segments follow each other: shared code of broadcasts and reductions.

The ranks are p positions. Two trees, both of Open MPI (coll_base_topo.c):

    by levels     level l has the positions 2^l - 1 .. 2^(l+1) - 2; position v on it has the children v + 2^l and v + 2^(l+1)
    in order      the last of a run of positions is its root; its children are the position before it, which is the root of
                  the upper part of the run, and the root of the lower part, which has half of the run, rounded down

    p = 7     by levels       0                 in order       6
                            /   \                            /   \
                           1     2                          5     2
                          / \   / \                        / \   / \
                         3   5 4   6                      4   3 1   0

A rank receives a segment, sends it to its first child, then to its second child, and receives the next segment while it
sends to the second child: one segment in two steps. If position v receives its first segment in step t, then its children do
so in steps t + 1 and t + 2. A reduction is the same in reverse, with the children in the order in which they are received.

shapes     the two trees, and the steps of segments
segments   broadcasts and reductions of segments
"""
