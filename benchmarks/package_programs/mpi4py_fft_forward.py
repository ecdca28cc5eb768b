"""mpi4py-fft transforms an array that is distributed over ranks, and transforms it back."""

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

comm = MPI.COMM_WORLD
transform = PFFT(comm, [8, 9, 10], dtype=float)
values = newDistArray(transform, False)
values[:] = np.random.RandomState(comm.rank).rand(*values.shape)
spectrum = transform.forward(values.copy(), newDistArray(transform, True))
back = transform.backward(spectrum.copy(), newDistArray(transform, False))
total = comm.allreduce(float(np.sum(np.abs(spectrum) ** 2)))
print(f"{comm.rank}: {values.shape} {spectrum.shape} {np.allclose(values, back)} {total:.8f}\n", end="", flush=True)
transform.destroy()
