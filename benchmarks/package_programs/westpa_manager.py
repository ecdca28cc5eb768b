"""WESTPA's MPI work manager sends tasks to ranks."""

from westpa.work_managers.mpi import MPIWorkManager


def square(number):
    """A task."""
    return number * number


if __name__ == "__main__":
    with MPIWorkManager.from_environ() as manager:
        if manager.is_master:
            futures = [manager.submit(square, args=(number,)) for number in range(6)]
            print([future.get_result() for future in futures])
        else:
            manager.run()
