"""Broadcast: one rank's data on all ranks."""

from mpi4py import MPI


def position(comm, settings):
    """Return the position of this rank; on ranks other than 0 `settings` is None."""
    settings = comm.bcast(settings, root=0)
    return settings["first"] + comm.Get_rank() * settings["step"]


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), position(world, {"first": 5, "step": 10} if world.Get_rank() == 0 else None))
