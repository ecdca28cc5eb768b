"""`mpi4py.util`: helpers on top of MPI.

dtlib    conversion between numpy dtypes and MPI datatypes
pkl5    communication of pickled objects with out-of-band buffers
pool    multiprocessing's Pool on executors of `mpi4py.futures`
sync    counters, mutexes, conditions and semaphores shared by ranks
"""
