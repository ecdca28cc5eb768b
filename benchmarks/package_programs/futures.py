"""mpi4py.futures: squares from a pool of workers. Started with -m mpi4py.futures."""

from mpi4py.futures import MPIPoolExecutor


def square(x):
    return x * x


if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(sum(pool.map(square, range(100))))
