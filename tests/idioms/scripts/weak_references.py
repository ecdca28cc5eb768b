"""weakref, gc.collect, gc.get_objects, WeakValueDictionary."""

import gc
import weakref
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Node:
    pass


a, b = Node(), Node()
a.other, b.other = b, a
r = weakref.ref(a, lambda _: print("collected", comm.rank))
cache = weakref.WeakValueDictionary(a=a)
comm.Barrier()
print(len(cache), r() is a)
del a, b
gc.collect()
print(len(cache), r())
comm.Barrier()
