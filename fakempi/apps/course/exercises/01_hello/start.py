"""Hello, ranks.

mpiexec starts several processes that run the same program. Each process has
its own variables. Within a communicator, here `comm`, each process has a
number, its rank, counted from 0. The process itself is often called "rank 2".

    comm.Get_rank()     the number of this rank
    comm.Get_size()     the number of ranks

Your task: let `hello` return "rank 2 of 4" on rank 2 of 4, and so on.

See it run:  fakempi run -n 4 01_hello.py
"""

from mpi4py import MPI


def hello(comm):
    """Return the rank and the number of ranks as text."""
    return "rank 0 of 1"


if __name__ == "__main__":
    print(hello(MPI.COMM_WORLD))
