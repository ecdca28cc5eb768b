import copy
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Holder:
    def __init__(self):
        self.comm, self.data = comm, [1, [2]]


h = Holder()
c = copy.copy(h)
print(comm.rank, c.comm is comm, c.data is h.data, copy.deepcopy(h.data) == h.data)
try:
    d = copy.deepcopy(h)
    print("deep", type(d.comm).__name__)
except Exception as e:
    print(type(e).__name__)
# when: full
