"""Another pickle, as dill"""

# ranks: 2
import pickle
from mpi4py import MPI

count = [0]


def dumps(o, protocol=None):
    count[0] += 1
    return pickle.dumps(o, protocol)


MPI.pickle.__init__(dumps, pickle.loads)
print(MPI.COMM_WORLD.allgather({"a": 1}), count[0] > 0, MPI.pickle.PROTOCOL is not None)
MPI.pickle.__init__(pickle.dumps, pickle.loads, 2)
print(MPI.COMM_WORLD.bcast(list(range(3))), MPI.pickle.PROTOCOL, MPI.pickle.loads(MPI.pickle.dumps("x")))
