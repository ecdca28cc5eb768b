"""Objects that cannot be pickled; __reduce__ ; __getstate__ that drops the communicator."""

# ranks: 2
import threading
import pickle
import copy
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Model:
    def __init__(self):
        self.comm, self.lock, self.x = comm, threading.Lock(), 4

    def __getstate__(self):
        d = self.__dict__.copy()
        del d["comm"], d["lock"]
        return d

    def __setstate__(self, d):
        self.__dict__.update(d)
        self.comm = MPI.COMM_WORLD
        self.lock = None


m = comm.bcast(Model() if comm.rank == 0 else None)
print(m.x, m.comm.rank == comm.rank, copy.copy(Model()).x)
for o in (threading.Lock(), (i for i in range(3)), open(__file__)):
    try:
        comm.isend(o, comm.rank)
    except (TypeError, pickle.PicklingError) as e:
        print(type(e).__name__, str(e).split("'")[0:2])
c = pickle.loads(pickle.dumps(MPI.COMM_WORLD))
print(
    c == MPI.COMM_WORLD, pickle.loads(pickle.dumps(MPI.SUM)) == MPI.SUM, pickle.loads(pickle.dumps(MPI.DOUBLE)) == MPI.DOUBLE
)
try:
    copy.deepcopy(comm)
    print("deepcopied")
except Exception as e:
    print(type(e).__name__)
