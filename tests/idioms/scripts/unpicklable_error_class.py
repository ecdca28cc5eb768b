from mpi4py import MPI

comm = MPI.COMM_WORLD


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code

    def __reduce__(self):
        return Failure, (self.code, str(self))


errors = comm.allgather(Failure(comm.rank, "t") if comm.rank else None)
try:
    for e in errors:
        if e:
            raise e
except Failure as f:
    print(comm.rank, f.code, f, type(f) is Failure)
# when: full
