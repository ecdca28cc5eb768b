from mpi4py import MPI

comm = MPI.COMM_WORLD


def stream(n):
    try:
        for i in range(n):
            got = yield comm.bcast(i * 10 if comm.rank == 0 else None)
            if got:
                print(comm.rank, "got", got)
    finally:
        print(comm.rank, "closed")


g = stream(5)
print(comm.rank, next(g), g.send("x"), next(g))
g.close()
# when: full
