"""nifty8 sums fields over ranks, in an order that does not depend on their number."""

import nifty8 as ift
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
first, last = ift.utilities.shareRange(7, comm.size, comm.rank)
domain = ift.RGSpace(3)
fields = [ift.makeField(domain, np.random.RandomState(number).rand(3)) for number in range(first, last)]
total = ift.utilities.allreduce_sum(fields, comm)
ift.utilities.check_MPI_equality(total.val.tolist(), comm)
print(f"{comm.rank}: {first} {last} {np.round(total.val, 12).tolist()}\n", end="", flush=True)
