from mpi4py import MPI

comm = MPI.COMM_WORLD


class Resource:
    def __init__(self):
        self.c = comm.Dup()

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.c.Free()
        print(comm.rank, "freed", self.c == MPI.COMM_NULL)


with Resource() as r:
    print(comm.rank, r.c.size)
    try:
        with Resource() as s:
            raise KeyError("k")
    except KeyError as e:
        print(comm.rank, repr(e))
# when: full
