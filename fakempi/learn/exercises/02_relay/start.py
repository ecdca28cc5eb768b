"""Send and receive: a word goes from rank to rank.

    comm.send(thing, dest=3)          give any Python object to rank 3
    thing = comm.recv(source=1)       take what rank 1 sends; waits for it

Each send needs its receive. A rank that receives what nobody sends waits for
ever, and so does everybody who waits for it.

Your task: rank 0 has a word. It goes to rank 1, from there to rank 2, and so
on to the last. All of them return the word. It must work on a single rank,
too, which has nobody to talk to.

See it run:  fakempi run -n 4 02_relay.py
"""

from mpi4py import MPI


def relay(comm, word):
    """Every rank returns the word, which only rank 0 is given; elsewhere `word` is None."""
    rank = comm.Get_rank()
    if rank == 0:
        comm.send(word, dest=1)
    else:
        word = comm.recv(source=rank - 1)
    return word


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), relay(world, "ahoy" if world.Get_rank() == 0 else None))
