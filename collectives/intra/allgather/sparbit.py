"""Allgather by Sparbit (stripe parallel binomial trees): far ranks first, so the longest messages go to neighbors.

In round k = ceil(log2 p) - 1 .. 0 rank r sends the blocks that it has to r + 2^k (mod p) and receives those of r - 2^k; a
block that the receiver already has is not sent. A rank has every 2^k-th block after a round, so blocks need no rotation at
the end, but they are not adjacent: here they are packed into one message (in the paper each block is a message).

    p = 4     start      k = 1      k = 0
    rank 0    0...       0.2.       0123
    rank 1    .1..       .1.3       0123
    rank 2    ..2.       0.2.       0123
    rank 3    ...3       .1.3       0123

Rounds   ceil(log2 p)    Sent per rank   (p-1) m bytes    Scratch   longest messages, packed
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     where neighboring ranks are close: fewest rounds and least data for any p, and the longest messages go to
         neighbors
Source   Loch, Koslovski, Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm, 2021,
         arXiv:2109.08751 (derived from the abstract); in Open MPI's coll/base
"""

from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.shifted_plans import sparbit_plan

allgather_sparbit = planned_allgather(__name__, sparbit_plan)
