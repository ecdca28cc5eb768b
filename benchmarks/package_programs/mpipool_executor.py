"""mpipool: an executor whose workers are ranks."""

from mpipool import MPIExecutor


def square(x):
    return x * x


with MPIExecutor() as pool:
    pool.workers_exit()
    print(sum(pool.map(square, range(50))))
