"""Generalized Comm_split: colors and keys of any type; each algorithm returns the chain of the process's group.

`run(group, color, key, *, compare=None, ..., tag=0)`: `group` is a communicator or a chain. With `color=None` on all ranks
there is one group; with `key=None` on all ranks, groups are in rank order. A process with the color `UNDEFINED`
(MPI.UNDEFINED) participates and gets None; to exclude some processes from a single group, pass one color on the others.
Colors and keys are 64-bit integers, strings or bytes, or any picklable objects with a comparison function. All colors have
one type, and all keys have one type. If `widths` are passed, all ranks or no rank pass a key, including ranks with the
color UNDEFINED. Messages use `tag` and `tag + 1`.

allgather_group    an allgather on the chain, local selection and sort
allgather_mpi      an allgather on the communicator, local selection and sort
best               chooses one of the others
bitonic            Batcher's bitonic sort
cheng              Cheng's sort with exact splitters on every M-th process
gather_scatter     gather to one process, merge and scatter
hash               repeated splits by bits of a hash
hash64             hash, and an allgather on chains of fewer than 64 processes
radix              repeated splits by bits of integers
sack_gropp         Sack and Gropp's parallel sort on a fixed number of processes
"""

from collectives.chain.items import UNDEFINED, Compare, Compares, Widths

__all__ = ["UNDEFINED", "Compare", "Compares", "Widths"]
