"""Scatter and gather: distribute work, collect results."""

from mpi4py import MPI


def lengths(comm, words):
    """Return on rank 0 the lengths of all words; on ranks other than 0 `words` is None."""
    rank, size = comm.Get_rank(), comm.Get_size()
    parts = None
    if rank == 0:
        share = len(words) // size
        parts = [words[i * share : (i + 1) * share] for i in range(size)]
    mine = comm.scatter(parts, root=0)
    results = comm.gather([len(word) for word in mine], root=0)
    if rank != 0:
        return None
    return [length for result in results for length in result]


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    words = ["MPI", "was", "standardized", "in", "May", "1994"] if world.Get_rank() == 0 else None
    print(world.Get_rank(), lengths(world, words))
