"""The order of ranks is kept, in the function and by MPI."""

import ast

import numpy as np

from fakempi.apps.course import Trial


def matrix(rank: int, size: int) -> np.ndarray:
    """Return matrices whose products are exact and depend on the order."""
    return np.array([[1.0, rank % 5], [0.0, 1.0 + rank % 2]])


def check(trial: Trial) -> None:
    """Check the results, and commute=False even if the emulator happens to keep the order."""
    trial.without("gather", "allgather", "Gather", "Allgather", why="use Allreduce in this exercise.")

    def gives(rank: int, size: int) -> np.ndarray:
        expected = np.eye(2)
        for one in range(size):
            expected = expected @ matrix(one, size)
        return expected

    trial.everywhere("product", lambda rank, size: [matrix(rank, size)], gives)
    with trial.test("the operation does not commute"):
        for node in ast.walk(ast.parse(trial.text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Op.Create"):
                values = [*node.args[1:], *(one.value for one in node.keywords)]
                fault = f"Line {node.lineno} declares the operation commutative: then MPI may change the order."
                trial.require("True" not in map(ast.unparse, values), fault)
