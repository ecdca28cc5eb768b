import resource
from mpi4py import MPI

comm = MPI.COMM_WORLD
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
if comm.rank == 1:
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
comm.barrier()
print(comm.rank, comm.rank != 1 or resource.getrlimit(resource.RLIMIT_CORE)[0] == 0)
# when: full
