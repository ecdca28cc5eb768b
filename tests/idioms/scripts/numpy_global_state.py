import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
np.random.seed(10 + comm.rank)
a = np.random.rand(2)
comm.barrier()
b = np.random.randint(0, 1000, 3)
state = np.random.get_state()[1][:2].tolist()
np.random.seed(10 + comm.rank)
same = np.array_equal(np.random.rand(2), a) and np.array_equal(np.random.randint(0, 1000, 3), b)
print(comm.rank, same, b.tolist(), np.random.default_rng(5).integers(100), state)
# when: full
