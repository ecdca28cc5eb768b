"""Code that several algorithms within a group share, with its schedules and claims.

families            declares algorithms that work on any layout of blocks
trees               the binomial tree
binary_trees        segments up and down a binary tree
two_trees           two binary trees on the same ranks
circulant           circulant graphs and their round-optimal broadcast schedules
reversed_circulant  the reverse of that broadcast: a reduction
ordered_tree        broadcasts along any tree
star                direct messages between the root and each rank
binomial            blocks up and down a binomial tree
subtree_sizes       the same where only the root knows the block sizes
run_trees           blocks up and down trees whose subtrees are runs of ranks
run_tree_messages   whole messages up and down these trees
knomial             the k-nomial tree
segmented           segments of a message along a chain, and exchanges in the order of steps
ring                blocks around a ring
runs                allgather by growing runs of blocks, reduce-scatter by shrinking runs
bounded_runs        allgather by runs of bounded length
pairs               exchanges between all pairs of ranks
pipeline            blocks around a ring of nodes
reductions          combining operands in rank order
folding             reducing p to a power of two, or to another smaller number
butterflies         exchanges with ranks that differ in one bit, in rank order
plans               allgathers given as plans, and the reduce-scatters in reverse
prefixes            scans: recursive doubling, a pipelined chain, the doubly pipelined tree
rabenseifner        vector halving with distance doubling
halving             vector halving: its exchanges, and its use with distance halving
pair_reductions     reduce-scatter by pairwise exchange
reduce_scatterv     reduce to rank 0, then scatterv
"""
