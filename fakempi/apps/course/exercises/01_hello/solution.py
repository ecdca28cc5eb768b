"""Hello, ranks."""

from mpi4py import MPI


def hello(comm):
    """Return the rank and the number of ranks as text."""
    return f"rank {comm.Get_rank()} of {comm.Get_size()}"


if __name__ == "__main__":
    print(hello(MPI.COMM_WORLD))
