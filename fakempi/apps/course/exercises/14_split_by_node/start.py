"""Split by node.

Ranks on the same node share memory, and messages between them are cheap. An
efficient program communicates within nodes first, and between nodes only
through one rank of each node, its leader.

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)            the ranks on this node
    leaders = comm.Split(color, key=rank)                   the ranks with the same color
    comm.Split(MPI.UNDEFINED)                               in no group: COMM_NULL
    node.Free()                                             when it is no longer needed

Your task: add a number over all ranks in three steps: reduce within each node
to its leader (rank 0 of the node), add between the leaders, and broadcast
within the nodes. Return the total, the number of ranks on this node, and the
number of nodes on leaders, None on other ranks. Use MPI to find the nodes: the
program below assumes four ranks on each node.

See it run:  fakempi run -n 6 --cost two_level:ranks_per_node=3 14_split_by_node.py
"""

from mpi4py import MPI


def total(comm, number):
    """Return the sum, the number of ranks on this node, and on leaders the number of nodes."""
    rank = comm.Get_rank()
    node = comm.Split(rank // 4, key=rank)
    leaders = comm.Split(0, key=rank)
    result = node.reduce(number, root=0)
    if node.Get_rank() == 0:
        result = leaders.allreduce(result)
    result = node.bcast(result, root=0)
    ranks, nodes = node.Get_size(), leaders.Get_size()
    leaders.Free()
    node.Free()
    return result, ranks, nodes


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), total(world, world.Get_rank()))
