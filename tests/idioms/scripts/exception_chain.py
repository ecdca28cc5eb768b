"""Exceptions with causes"""

# ranks: 1
from mpi4py import MPI


class SolverError(Exception):
    def __str__(self):
        return f"solver failed: {self.args}"


def inner():
    return {}["key"]


def outer():
    try:
        inner()
    except KeyError as e:
        raise SolverError(1, 2) from e


try:
    outer()
finally:
    print("finally", MPI.COMM_WORLD.allreduce(1))
