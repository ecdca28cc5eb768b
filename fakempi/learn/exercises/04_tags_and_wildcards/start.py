"""Tags and wildcards: who was that, and what did they want?

A message has a tag, a number that says what kind of message it is. A receive
can ask for one tag and one source, or take what comes, and look afterwards:

    status = MPI.Status()
    thing = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    status.Get_source(), status.Get_tag()

Which message comes first is not yours to decide. Between two ranks messages
keep their order; between several they do not.

Your task: every rank but 0 sends each of its numbers with tag DATA, and then a
message with tag DONE, to rank 0. Rank 0 returns a dictionary: of each other
rank its numbers, in their order. The others return None. Nobody knows before
how many numbers a rank has. The program below believes that ranks come one
after the other.

See it run:  fakempi run -n 4 04_tags_and_wildcards.py
"""

from mpi4py import MPI

DATA, DONE = 1, 2


def collect(comm, numbers):
    """On rank 0 the numbers of all others, by rank."""
    if comm.Get_rank() > 0:
        for number in numbers:
            comm.send(number, dest=0, tag=DATA)
        comm.send(None, dest=0, tag=DONE)
        return None
    found = {}
    for source in range(1, comm.Get_size()):
        found[source] = []
        status = MPI.Status()
        number = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        while status.Get_tag() == DATA:
            found[source].append(number)
            number = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    return found


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    result = collect(world, [100 * world.Get_rank() + i for i in range(world.Get_rank())])
    if result is not None:
        print(result)
