import time
from mpi4py import MPI

comm = MPI.COMM_WORLD
a, m, w = time.perf_counter(), time.monotonic_ns(), MPI.Wtime()
comm.barrier()
time.sleep(0.01)
print(
    comm.rank,
    time.perf_counter() - a >= 0.009,
    time.monotonic_ns() - m > 9_000_000,
    MPI.Wtime() - w >= 0.009,
    MPI.Wtick() > 0,
)
print(isinstance(time.strftime("%Y"), str), time.time() > 1.6e9, time.gmtime(0).tm_year)
# when: full
