"""Scatter and gather: distribute work, collect results.

    part = comm.scatter(parts, root=0)       item i of rank 0's list, on rank i
    results = comm.gather(result, root=0)    on rank 0, the list of all results

The list that is scattered has exactly one item for each rank. An item may be
anything, for example a list. `gather` is the reverse: its list has one item
for each rank, in the order of ranks. Only the root has it, the other ranks get
None. As for every collective operation, all ranks call.

Your task: rank 0 has a list of words, of which each rank counts the letters of
an equal share: rank 0 the first ones, rank 1 the next ones, and so on. (The
number of words is a multiple of the number of ranks.) Rank 0 returns the
lengths of all words in a flat list, in order; the other ranks return None. The
program below scatters the words themselves.

See it run:  fakempi run -n 3 08_scatter_gather.py
"""

from mpi4py import MPI


def lengths(comm, words):
    """Return on rank 0 the lengths of all words; on ranks other than 0 `words` is None."""
    mine = comm.scatter(words, root=0)
    return comm.gather([len(word) for word in mine], root=0)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    words = ["MPI", "was", "standardized", "in", "May", "1994"] if world.Get_rank() == 0 else None
    print(world.Get_rank(), lengths(world, words))
