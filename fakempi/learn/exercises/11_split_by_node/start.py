"""Split by node.

Ranks on the same node share memory, and messages between them are cheap. A
good program talks within nodes first, and lets one rank of each node, its
leader, talk to the others.

    node = comm.Split_type(MPI.COMM_TYPE_SHARED)            those on my node
    leaders = comm.Split(color, key=rank)                   those with my color
    comm.Split(MPI.UNDEFINED)                               in no group: COMM_NULL
    node.Free()                                             when it is over

Your task: add up a number over all ranks in three steps: within each node to
its leader (rank 0 of the node), between the leaders, and within the nodes back
to everybody. Return the total, the number of ranks on this node, and the
number of nodes on leaders, None elsewhere. Ask MPI where ranks are: the
program below believes that there are always four on a node.

See it run:  fakempi run -n 6 --cost two_level:ranks_per_node=3 11_split_by_node.py
"""

from mpi4py import MPI


def total(comm, number):
    """The sum, how many ranks are on this node, and, on leaders, how many nodes there are."""
    rank = comm.Get_rank()
    node = comm.Split(rank // 4, key=rank)
    leaders = comm.Split(0, key=rank)
    found = node.reduce(number, root=0)
    if node.Get_rank() == 0:
        found = leaders.allreduce(found)
    found = node.bcast(found, root=0)
    ranks, nodes = node.Get_size(), leaders.Get_size()
    leaders.Free()
    node.Free()
    return found, ranks, nodes


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    print(world.Get_rank(), total(world, world.Get_rank()))
