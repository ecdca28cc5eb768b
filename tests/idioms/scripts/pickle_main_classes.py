from mpi4py import MPI

comm = MPI.COMM_WORLD


class Node:
    made = 0

    def __init__(self, value, child=None):
        self.value, self.child = value, child
        Node.made += 1

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value


tree = comm.bcast(Node(1, Node(2)) if comm.rank == 0 else None)
print(comm.rank, type(tree) is Node, isinstance(tree.child, Node), Node.made, tree == Node(1), tree.__class__.__module__)
# when: full
