from mpi4py import MPI

comm = MPI.COMM_WORLD
comm.barrier()
if comm.rank == 1:
    print("leaving")
    raise SystemExit("cannot go on")
print(comm.rank, "stays")
# when: full
