"""`mpi4py.util`: dtlib, pkl5, pool."""
