import gc
import weakref
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Thing:
    pass


log = []
t = Thing()
weakref.finalize(t, log.append, comm.rank)
cache = weakref.WeakValueDictionary(a=t)
c = comm.Dup()
r = weakref.ref(c)
comm.barrier()
del t
gc.collect()
c.Free()
del c
gc.collect()
print(comm.rank, log, dict(cache), r() is None)
# when: full
