"""Hello, ranks."""

from mpi4py import MPI


def hello(comm):
    """Which rank this is, and of how many."""
    return f"rank {comm.Get_rank()} of {comm.Get_size()}"


if __name__ == "__main__":
    print(hello(MPI.COMM_WORLD))
