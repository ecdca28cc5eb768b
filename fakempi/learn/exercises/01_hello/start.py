"""Hello, ranks.

An MPI program is started several times at once. All copies run the same text;
each is a process of its own, with its own variables, and is called a rank.
Ranks are numbered from 0. What they have in common is a communicator, here
`comm`:

    comm.Get_rank()     the number of this rank
    comm.Get_size()     how many there are

Your task: let `hello` return "rank 2 of 4" on rank 2 of 4, and so on.

See it run:  fakempi run -n 4 01_hello.py
"""

from mpi4py import MPI


def hello(comm):
    """Which rank this is, and of how many."""
    return "rank 0 of 1"


if __name__ == "__main__":
    print(hello(MPI.COMM_WORLD))
