"""Send and receive: a word goes from rank to rank.

    comm.send(data, dest=3)           send a Python object to rank 3
    data = comm.recv(source=1)        receive from rank 1; waits for the message

Each send needs a matching receive. A rank whose receive has no matching send
never returns from it, and neither do ranks that wait for it: a deadlock.

Your task: rank 0 has a word. It goes to rank 1, from there to rank 2, and so
on to the last rank. All ranks return the word. It must also work on a single
rank, which has no other rank to send to.

See it run:  fakempi run -n 4 02_relay.py
"""

from mpi4py import MPI


def relay(comm, word):
    """Return rank 0's word on every rank; on other ranks `word` is None."""
    rank = comm.Get_rank()
    if rank == 0:
        comm.send(word, dest=1)
    else:
        word = comm.recv(source=rank - 1)
    return word


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), relay(world, "ahoy" if world.Get_rank() == 0 else None))
