"""Broadcast: one rank's data on all ranks.

Often one rank reads the input, and all ranks need it. Sends in a loop work,
but MPI has a call for it, a collective operation:

    data = comm.bcast(data, root=0)       rank 0's data, on every rank

All ranks call it, in the same place of the program. The root's `data` is sent;
on the other ranks it is ignored, usually None. Every rank uses the value that
`bcast` returns.

Your task: only rank 0 has the settings, a dictionary such as {"first": 5,
"step": 10}. Every rank returns its position, first + rank * step. The program
below lets only rank 0 call `bcast`.

See it run:  fakempi run -n 4 07_bcast.py
"""

from mpi4py import MPI


def position(comm, settings):
    """Return the position of this rank; on ranks other than 0 `settings` is None."""
    rank = comm.Get_rank()
    if rank == 0:
        settings = comm.bcast(settings, root=0)
    return settings["first"] + rank * settings["step"]


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), position(world, {"first": 5, "step": 10} if world.Get_rank() == 0 else None))
