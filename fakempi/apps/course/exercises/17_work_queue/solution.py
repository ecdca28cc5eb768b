"""A race in a work queue."""

from mpi4py import MPI

TASK, NUMBER, RESULT, STOP = 1, 2, 3, 4


def work(comm, tasks):
    """Return on rank 0 the squares of all tasks, in their order; only rank 0 uses `tasks`."""
    if comm.Get_rank() > 0:
        return worker(comm)
    if comm.Get_size() == 1:
        return [task**2 for task in tasks]
    results, given = [None] * len(tasks), 0
    status = MPI.Status()
    for dest in range(1, comm.Get_size()):
        given += hand_out(comm, tasks, given, dest)
    for _ in tasks:
        number = comm.recv(source=MPI.ANY_SOURCE, tag=NUMBER, status=status)
        results[number] = comm.recv(source=status.Get_source(), tag=RESULT)
        given += hand_out(comm, tasks, given, status.Get_source())
    return results


def hand_out(comm, tasks, given, dest):
    """Send a worker the next task, or STOP; return the number of tasks sent."""
    if given < len(tasks):
        comm.send((given, tasks[given]), dest=dest, tag=TASK)
        return 1
    comm.send(None, dest=dest, tag=STOP)
    return 0


def worker(comm):
    """Do tasks until STOP."""
    status = MPI.Status()
    while True:
        task = comm.recv(source=0, status=status)
        if status.Get_tag() == STOP:
            return None
        number, value = task
        comm.send(number, dest=0, tag=NUMBER)
        comm.send(value**2, dest=0, tag=RESULT)


if __name__ == "__main__":
    world = MPI.COMM_WORLD
    squares = work(world, [3, 5, 7])
    if world.Get_rank() == 0:
        print(squares)
        assert squares == [9, 25, 49]
