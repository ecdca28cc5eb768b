"""Workers of a fork pool use the rank and the size from the parent's communicator."""

# ranks: 2
import multiprocessing
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Problem:
    def __init__(self):
        self.comm = comm

    def __call__(self, i):
        return (self.comm.rank, comm.Get_size(), i, MPI.COMM_WORLD.Get_rank(), MPI.Is_initialized())


problem = Problem()


def call(i):
    return problem(i)


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as p:
        print(sorted(p.map(call, range(3))))
    comm.Barrier()
