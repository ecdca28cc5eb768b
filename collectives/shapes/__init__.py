"""Texts that several algorithms within a group share, each with its schedule.

trees, two_trees, circulant             graphs: binomial, two binary trees at once, circulant
star, binomial, segmented               between the root and each; up and down a tree; in segments along a chain
ring, runs, pairs, pipeline             around the ring; in growing runs; between all pairs; blocks round a ring of nodes
reductions, folding, prefix             operands in rank order; p made a power of two; prefixes
rabenseifner, halving, pair_reductions, scattered      reduce-scatters
"""
