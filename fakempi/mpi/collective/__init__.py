"""Collective calls: barrier, broadcast, gather, scatter, all-to-all, reductions and scans.

The path of a call:

1. Describe its buffers as flat arrays of elements (`Flat`).
2. Register the call, so that ranks with different calls or arguments get an error that names both
   (`mpi.base.call_matching`).
3. Choose an algorithm (`Selection`).
4. Run it on the communicator's collective context, which has the same ranks and a separate message space.

A nonblocking call runs in a child task of the rank. A repeated call from the same line uses the stored results of these
steps (`Recipe`).

calls           what all calls share: checks, call matching, choice of the algorithm
call            one call of a rank: agree, choose, run, store
call_facts      the facts about a call: for the choice, for call matching, its root, its operation
operands        the buffers of a call, as the arrays that algorithms take
plans           one method per operation: its buffers and the facts about them
blocking        Barrier, Bcast, ...: plan and run
nonblocking     Ibarrier, Ibcast, ...: run the plan in a child task
persistent      Barrier_init, Bcast_init, ...: run the plan in a child task at each start
objects         bcast, gather, ...: Python objects, as sizes and then pickles
object_arrays   arrays whose elements are pickled objects, for reductions of objects
scans           prefix reductions, all variants
recipe          the part of a prepared call that repeated calls reuse
fused_case      the description of a call that may be fused
block_sizes     the block sizes of a fused call that its ranks know
repeated        blocking calls: by the recipe of an earlier call from the same line, or by a plan
forms           the buffers of repeated calls: contiguous arrays and phantoms
count_forms     the same for calls with counts
selection       the table of algorithms of a run
synchronizing   calls that a rank may leave early, and the exploration mode that adds barriers
"""
