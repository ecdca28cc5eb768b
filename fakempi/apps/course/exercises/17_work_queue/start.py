"""A race in a work queue.

Rank 0 has tasks and gives each of the other ranks one at a time. A rank that
has finished gets the next task, so that slow ranks do not delay fast ones. A
worker replies with two messages, the task's number and the result. Rank 0
below receives them in the order in which they arrive.

It has run a thousand times and never failed. It is wrong: messages from one
rank to another keep their order, but messages of different workers may arrive
in any order. Repeating the run rarely finds such a bug; so run the program in
all orders that MPI permits:

    fakempi check -n 3 17_work_queue.py

Your task: `work` returns on rank 0 the results in the order of the tasks, in
every schedule, and None on other ranks.
"""

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
        number = comm.recv(source=MPI.ANY_SOURCE, tag=NUMBER)
        results[number] = comm.recv(source=MPI.ANY_SOURCE, tag=RESULT, status=status)
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
