"""Split by node."""

from mpi4py import MPI


def total(comm, number):
    """Return the sum, the number of ranks on this node, and on leaders the number of nodes."""
    rank = comm.Get_rank()
    node = comm.Split_type(MPI.COMM_TYPE_SHARED, key=rank)
    leads = node.Get_rank() == 0
    leaders = comm.Split(0 if leads else MPI.UNDEFINED, key=rank)
    result, nodes = node.reduce(number, root=0), None
    if leads:
        result = leaders.allreduce(result)
        nodes = leaders.Get_size()
        leaders.Free()
    result, ranks = node.bcast(result, root=0), node.Get_size()
    node.Free()
    return result, ranks, nodes


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), total(world, world.Get_rank()))
