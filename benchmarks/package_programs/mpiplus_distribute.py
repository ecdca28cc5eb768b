"""mpiplus distributes calls over ranks, and calls a function on one rank."""

import mpiplus
from mpi4py import MPI

squares = mpiplus.distribute(lambda x: x * x, range(7), send_results_to="all")
once = mpiplus.run_single_node(1, lambda: MPI.COMM_WORLD.rank, broadcast_result=True)
print(f"{MPI.COMM_WORLD.rank}: {squares} {once}\n", end="", flush=True)
