"""Split by node."""

from mpi4py import MPI


def total(comm, number):
    """The sum, how many ranks are on this node, and, on leaders, how many nodes there are."""
    rank = comm.Get_rank()
    node = comm.Split_type(MPI.COMM_TYPE_SHARED, key=rank)
    leads = node.Get_rank() == 0
    leaders = comm.Split(0 if leads else MPI.UNDEFINED, key=rank)
    found, nodes = node.reduce(number, root=0), None
    if leads:
        found = leaders.allreduce(found)
        nodes = leaders.Get_size()
        leaders.Free()
    found, ranks = node.bcast(found, root=0), node.Get_size()
    node.Free()
    return found, ranks, nodes


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), total(world, world.Get_rank()))
