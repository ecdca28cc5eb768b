"""The order of ranks is kept, in the function and by MPI."""

import ast

import numpy as np

from fakempi.learn import Trial, Wrong


def matrix(rank: int, size: int) -> np.ndarray:
    """Whose products are exact, and hang on the order."""
    return np.array([[1.0, rank % 5], [0.0, 1.0 + rank % 2]])


def check(trial: Trial) -> None:
    """Results; and, where the emulator happens to keep the order, that it was told to."""
    trial.without("gather", "allgather", "Gather", "Allgather", why="here the ranks' matrices are joined by Allreduce.")

    def gives(rank: int, size: int) -> np.ndarray:
        found = np.eye(2)
        for one in range(size):
            found = found @ matrix(one, size)
        return found

    trial.everywhere("product", lambda rank, size: [matrix(rank, size)], gives)
    for node in ast.walk(ast.parse(trial.text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Op.Create"):
            words = [*(ast.unparse(one) for one in node.args[1:]), *(ast.unparse(one.value) for one in node.keywords)]
            if "True" in words:
                raise Wrong(f"Line {node.lineno} says that the operation commutes: then MPI may change the order.")
