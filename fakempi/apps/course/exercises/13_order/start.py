"""Reductions, and their order.

`Allreduce` combines the data of all ranks, two at a time, with an operation:
MPI.SUM, MPI.MAX, or a user-defined one:

    op = MPI.Op.Create(function, commute=False)
    op.Free()

MPI may choose the order of evaluation, that is, where the parentheses are.
With `commute=True` it may also swap the operands. That is faster for some
algorithms and correct for a sum, but not for a product of matrices. The
function is called as `function(left, right, datatype)` and stores left times
right in `right`. Its arguments are memory: `np.frombuffer(left)` is the array.

Your task: `product` returns A0 A1 A2 ... on every rank, for the 2 x 2 matrices
of all ranks, in the order of ranks. The program below has two bugs.

See it run:  fakempi run -n 3 13_order.py
"""

import numpy as np
from mpi4py import MPI


def multiply(left, right, datatype):
    """Store the product in `right`."""
    a, b = np.frombuffer(left).reshape(2, 2), np.frombuffer(right).reshape(2, 2)
    b[:] = b @ a


def product(comm, matrix):
    """Return the product of all ranks' matrices, in the order of ranks."""
    whole = MPI.DOUBLE.Create_contiguous(4).Commit()  # one element is a whole matrix
    op = MPI.Op.Create(multiply, commute=True)
    result = np.empty((2, 2))
    comm.Allreduce([matrix, 1, whole], [result, 1, whole], op)
    op.Free()
    whole.Free()
    return result


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    mine = np.array([[1.0, world.Get_rank()], [0.0, 2.0]])
    print(world.Get_rank(), product(world, mine).tolist())
