from mpi4py import MPI

comm = MPI.COMM_WORLD
try:
    if comm.rank == 2:
        raise SystemExit(3)
finally:
    print(comm.rank, "finally")
# when: full
