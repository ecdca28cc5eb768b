"""Send and receive: a word goes from rank to rank."""

from mpi4py import MPI


def relay(comm, word):
    """Return rank 0's word on every rank; on other ranks `word` is None."""
    rank, size = comm.Get_rank(), comm.Get_size()
    if rank > 0:
        word = comm.recv(source=rank - 1)
    if rank < size - 1:
        comm.send(word, dest=rank + 1)
    return word


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), relay(world, "ahoy" if world.Get_rank() == 0 else None))
