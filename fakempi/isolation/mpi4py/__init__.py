"""The emulated mpi4py package, apart from `mpi4py.MPI`, which is the emulator.

This directory is the `__path__` of the package that scripts import, so its modules are found under mpi4py's names:
`from mpi4py.util import pkl5`, `-m mpi4py.bench`. All ranks share these modules; values that a rank sets are its own.

package    the module objects `mpi4py` and `mpi4py.MPI`
options    `mpi4py.rc`
private_names    names in `mpi4py.MPI` that begin with an underscore
private_modules    modules that a rank adds to `sys.modules` without an import
run    `-m mpi4py.run`
__main__    `-m mpi4py`, the same as `-m mpi4py.run`
bench    `-m mpi4py.bench`: hello world, ring test, ping-pong, futures
typing    types for annotations
util/    dtlib: conversion of numpy and MPI datatypes; pkl5: out-of-band pickling; pool: a Pool; sync: mutexes and counters
futures/    executors whose workers are ranks; `-m mpi4py.futures`
"""
