"""Tags and wildcards: receive from any rank.

A message has a tag, a number by which the receiver recognizes its kind. A
receive can specify source and tag, or accept any message and read source and
tag from the status afterwards:

    status = MPI.Status()
    data = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    status.Get_source(), status.Get_tag()

Messages from one rank to another keep their order. Messages from different
ranks may arrive in any order.

Your task: every rank but 0 sends each of its numbers with tag DATA, and then a
message with tag DONE, to rank 0. Rank 0 returns a dictionary: for each other
rank the list of its numbers, in their order. The other ranks return None. Rank
0 does not know in advance how many numbers a rank has. The program below
assumes that the messages of one rank arrive before those of the next.

See it run:  fakempi run -n 4 04_tags_and_wildcards.py
"""

from mpi4py import MPI

DATA, DONE = 1, 2


def collect(comm, numbers):
    """Return on rank 0 the numbers of all other ranks, by rank."""
    if comm.Get_rank() > 0:
        for number in numbers:
            comm.send(number, dest=0, tag=DATA)
        comm.send(None, dest=0, tag=DONE)
        return None
    collected = {}
    for source in range(1, comm.Get_size()):
        collected[source] = []
        status = MPI.Status()
        number = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        while status.Get_tag() == DATA:
            collected[source].append(number)
            number = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    return collected


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    result = collect(world, [100 * world.Get_rank() + i for i in range(world.Get_rank())])
    if result is not None:
        print(result)
