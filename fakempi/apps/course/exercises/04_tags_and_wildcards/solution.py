"""Tags and wildcards: receive from any rank."""

from mpi4py import MPI

DATA, DONE = 1, 2


def collect(comm, numbers):
    """Return on rank 0 the numbers of all other ranks, by rank."""
    if comm.Get_rank() > 0:
        for number in numbers:
            comm.send(number, dest=0, tag=DATA)
        comm.send(None, dest=0, tag=DONE)
        return None
    collected = {source: [] for source in range(1, comm.Get_size())}
    status, working = MPI.Status(), len(collected)
    while working:
        number = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == DONE:
            working -= 1
        else:
            collected[status.Get_source()].append(number)
    return collected


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    result = collect(world, [100 * world.Get_rank() + i for i in range(world.Get_rank())])
    if result is not None:
        print(result)
