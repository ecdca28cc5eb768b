"""Share a counter between all ranks: a rank that needs work takes the next number, without a master rank.

    python demos/13_distributed_counter.py"""

import numpy as np
from screen import arguments

import fakempi
from fakempi import MPI

TASKS = 60
NETWORK = fakempi.Hockney(t_s=2e-6, t_w=1e-9)


def seconds(task):
    """Duration of a task; a few tasks are long."""
    return 300e-6 if task % 15 == 0 else 20e-6


def equal_shares(comm):
    """Every rank has the same number of tasks."""
    mine = range(comm.rank, TASKS, comm.size)
    for task in mine:
        fakempi.compute(seconds(task))
    return len(mine)


def shared_counter(comm):
    """Every rank takes the next task when it has finished one: a counter in a window of rank 0."""
    win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
    one, task, done = np.ones(1, int), np.zeros(1, int), 0
    while True:
        win.Lock(0, MPI.LOCK_SHARED)
        win.Fetch_and_op(one, task, 0)
        win.Unlock(0)
        if task[0] >= TASKS:
            break
        fakempi.compute(seconds(task[0]))
        done += 1
    win.Free()
    return done


def careless_counter(comm):
    """Wrong: with Get and Put, two ranks may read the same number before either has written the next one."""
    win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
    task = np.zeros(1, int)
    win.Lock(0, MPI.LOCK_SHARED)
    win.Get(task, 0)
    win.Flush(0)
    win.Put(task + 1, 0)
    win.Unlock(0)
    win.Free()
    return int(task[0])


arguments(__doc__)
for program in (equal_shares, shared_counter):
    run = fakempi.run(program, 15, cost=NETWORK)
    print(f"{program.__name__:16} {1e6 * run.time:5.0f} us, {run.messages:3} messages, tasks by rank: {run.returns}")

careless = fakempi.run(careless_counter, 4, cost=NETWORK)
print(f"\ncareless counter, numbers by rank: {careless.returns}")
for finding in careless.findings:
    print(finding)
