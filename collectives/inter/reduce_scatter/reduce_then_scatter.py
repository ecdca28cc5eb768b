"""Reduce_scatter between groups by a reduce in each direction, then a scatter, as the MPI-2 standard describes it.

The first group reduces to its rank 0, its leader, by `reduce`, and the leader sends the result to the other leader;
then the other group does the same. At the end each leader scatters the received result in its own group by `scatterv`.
Silva and Silva compare this with their algorithm (wmpi), which sends blocks directly to the other group's ranks: one
hop less, and both directions at once. The first group is the larger one; if the groups are equal, the caller passes
`first=True` in one and `first=False` in the other. The code does not check that all operands have the same length, as
MPI requires. Operands are combined in the order that `reduce` uses.

    p = 4, q = 2      A reduced    a_0 to b_0    B reduced    b_0 to a_0    scattered      (operands in each block)
    a_0               4444                                    2222          2...
    a_1 a_2 a_3                                                             .2.. and so on
    b_0                            4444          2222                       44..
    b_1                                                                     ..44

Rounds   2 + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + 2 K
Time     2 (t_s + K t_w) + parts; all blocks together have K bytes: about 2.2 times wmpi for p = q; the exact time is
         computed from the schedule
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size; equal groups need
         `first`
Bits     depend on the operands only
Best     never: reduce_exchange_scatter does the same in both directions at once; for comparison
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2, the alternative;
         MPICH, src/mpi/coll/reduce_scatter/reduce_scatter_inter_remote_reduce_local_scatter.c
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.reduce_in_turn import reduce_in_turn_and_scatterv, reduce_in_turn_claims

reduce_scatter_reduce_then_scatter = reduce_scatter(
    __name__, reduce_in_turn_and_scatterv, in_order=True, **reduce_in_turn_claims(reduce_in_turn_and_scatterv)
)
