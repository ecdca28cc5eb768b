import atexit
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
for i in range(3):
    atexit.register(print, rank, "function", i)


def late():
    atexit.register(print, rank, "registered late")


atexit.register(late)

print(rank, "end of program")
# when: full
