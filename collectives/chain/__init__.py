"""Groups as chains: a process knows its rank, the size of the group and its two neighbors.

chain             Chain, one process's view of a group
scan              the double scan: inclusive, exclusive and segmented scans and allreduce of arrays
objects           double scans of Python objects
collect           barrier, bcast, allgather, reduce, gather and scatter on a chain
tree              binomial trees on a chain
derived_chains    Logchain, Ring, every n-th process of a chain, a chain from neighbors
bins              split a chain into one chain per bin
items             color, key, rank and address as bytes that can be compared
hashing           hashes of colors, and the split by hash
by_sort           splits that sort items
regroup           find the groups in a sorted chain
merging           items merged on the way up a tree
splitters         Cheng's parallel sort with exact splitters
sort/             the sorting algorithms: sort/<name>.py defines sort_<name>
agreement         agreement within and between two groups
schedules         the rounds of scans, allgathers and trees, for claims
meter             ItemMeter: counts the items that a process holds
"""

from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.meter import ItemMeter

__all__ = ["NO_RANK", "Chain", "ItemMeter"]
