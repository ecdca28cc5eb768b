# ranks: 1
import cProfile
import io
import pstats
from mpi4py import MPI


def work():
    return sum(MPI.COMM_WORLD.allreduce(i) for i in range(50))


p = cProfile.Profile()
value = p.runcall(work)
s = io.StringIO()
pstats.Stats(p, stream=s).sort_stats("cumulative").print_stats(3)
print(value, "work" in s.getvalue())
# when: full
