"""Settings of well-known packages that all ranks share: each rank has its own, as it would have in a process.

table    one entry per package: the functions that change a setting, and how to read and replace it
installing    calls of these functions are noticed from the import of the package on
jax    configuration of jax, for the process and for the thread
torch    generator, default type and modes of torch
memory    state of generators in the memory of compiled modules

A program that does not import a package pays nothing for its entry. A setting of `table` is exchanged after the first call
that changes it: 0.9 us for the first one of a run, 0.3 us for each other one, and about 1 us if two ranks differ. The
generators of torch and numba, and the modes of torch, change without a call that can be noticed: they are exchanged from the
import on, 4 us for torch and 2 us for numba. A message of a ring takes 7 us.
"""
