"""A race in a work queue.

Rank 0 has tasks and hands each of the others one at a time: whoever is done
gets the next, so that slow ones do not hold up quick ones. A worker answers
with two messages, the task's number and the result. The rank 0 below takes
them as they come.

It has been run a thousand times and never failed. It is wrong: between two
ranks messages keep their order, but those of several workers may come in any.
Nobody finds such a thing by running it again and again; so run it in all the
orders that MPI allows:

    fakempi check -n 3 14_work_queue.py

Your task: `work` returns on rank 0 the results in the order of the tasks, in
every schedule, and None elsewhere.
"""

from mpi4py import MPI

TASK, NUMBER, RESULT, STOP = 1, 2, 3, 4


def work(comm, tasks):
    """On rank 0 the squares of all tasks, in their order; only rank 0 uses `tasks`."""
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
    """Give a worker the next task, or tell it to stop; says how many tasks were given."""
    if given < len(tasks):
        comm.send((given, tasks[given]), dest=dest, tag=TASK)
        return 1
    comm.send(None, dest=dest, tag=STOP)
    return 0


def worker(comm):
    """Do tasks until told to stop."""
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
