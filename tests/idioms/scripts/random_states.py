"""Seeds by rank: random.seed, getstate, np.random.seed, SeedSequence, Generator pickles, secrets and uuid."""

import random
import numpy as np
import uuid
import pickle
from mpi4py import MPI

comm = MPI.COMM_WORLD
random.seed(10 + comm.rank)
np.random.seed(7)
comm.Barrier()
st = random.getstate()
a = random.random()
comm.Barrier()
random.setstate(st)
b = random.random()
x = np.random.rand(2)
comm.Barrier()
y = np.random.rand()
g = np.random.default_rng(np.random.SeedSequence(3).spawn(comm.size)[comm.rank])
h = pickle.loads(pickle.dumps(g))
print(
    a == b,
    round(a, 6),
    x.round(5).tolist(),
    round(y, 5),
    g.integers(100) == h.integers(100),
    len({str(u) for u in comm.allgather(uuid.uuid4())}),
    random.sample(range(10), 3),
    np.random.permutation(4).tolist(),
    random.Random(4).choice("abc"),
)
