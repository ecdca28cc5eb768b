"""Generalized Comm_split on chains: colour and key of any data; each algorithm gives everybody the chain of its group.

`run(group, color, key, *, compare=None, ..., tag=0)`. `group` is a communicator or a chain. `color` None keeps everybody
together, `key` None keeps the order of ranks; all say so or nobody. A process whose colour is `UNDEFINED`, which is
MPI.UNDEFINED, takes part and gets None; to leave some out and keep the others together, give those one colour. Colours
and keys are whole numbers of 64 bits, strings or bytes; or anything that can be pickled, with a comparison function. All
have colours of one kind and keys of one kind. Whoever says how long these are (`widths`) gives a key if others do, left
out or not. Messages have `tag` and the one after it.
"""

from collectives.chain.items import UNDEFINED, Compare, Compares, Widths

__all__ = ["UNDEFINED", "Compare", "Compares", "Widths"]
