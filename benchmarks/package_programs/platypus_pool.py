"""platypus evaluates the populations of a genetic algorithm in a pool of MPI ranks."""

import random

from platypus import NSGAII, PoolEvaluator, Problem, Real
from platypus.mpipool import MPIPool


class Parabolas(Problem):
    """Two parabolas."""

    def __init__(self):
        super().__init__(1, 2)
        self.types[:] = Real(-10, 10)

    def evaluate(self, solution):
        """Set the objectives of a solution."""
        x = solution.variables[0]
        solution.objectives[:] = [x**2, (x - 2) ** 2]


if __name__ == "__main__":
    pool = MPIPool()
    if pool.is_master():
        random.seed(5)
        algorithm = NSGAII(Parabolas(), population_size=20, evaluator=PoolEvaluator(pool))
        algorithm.run(100)
        print(algorithm.nfe, [round(float(solution.objectives[0]), 8) for solution in algorithm.result[:3]])
        pool.close()
    else:
        pool.wait()
