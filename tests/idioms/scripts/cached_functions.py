import functools
from mpi4py import MPI

comm = MPI.COMM_WORLD
calls = []


@functools.cache
def f(n):
    calls.append((comm.rank, n))
    return n * comm.rank


class K:
    @functools.cached_property
    def p(self):
        calls.append("p")
        return comm.rank


k = K()
print(comm.rank, [f(i) for i in (1, 1, 2)], k.p + k.p, len(calls), f.cache_info())
comm.barrier()
f.cache_clear()
print(comm.rank, f(1), f.cache_info().misses)
# when: full
