"""A counter that all ranks share: who needs work takes the next number, and nobody hands it out.

    python demos/19_distributed_counter.py"""

import numpy as np
from screen import asked

import fakempi
from fakempi import MPI

TASKS = 60
NETWORK = fakempi.Hockney(t_s=2e-6, t_w=1e-9)


def seconds(task):
    """How long a task takes: a few are long."""
    return 300e-6 if task % 15 == 0 else 20e-6


def in_equal_shares(comm):
    """Everybody has as many tasks, whatever they take."""
    mine = range(comm.rank, TASKS, comm.size)
    for task in mine:
        fakempi.compute(seconds(task))
    return len(mine)


def by_a_counter(comm):
    """Everybody takes the next task when it is done with the last one: one number, in a window of rank 0."""
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


def by_a_careless_counter(comm):
    """The same with a Get and a Put: two ranks may read the same number before either has written the next one."""
    win = MPI.Win.Allocate(8 if comm.rank == 0 else 0, 8, comm=comm)
    task = np.zeros(1, int)
    win.Lock(0, MPI.LOCK_SHARED)
    win.Get(task, 0)
    win.Flush(0)
    win.Put(task + 1, 0)
    win.Unlock(0)
    win.Free()
    return int(task[0])


asked(__doc__)
for program in (in_equal_shares, by_a_counter):
    run = fakempi.run(program, 15, cost=NETWORK)
    print(f"{program.__name__:16} {1e6 * run.time:5.0f} us, {run.messages:3} messages, tasks by rank: {run.returns}")

careless = fakempi.run(by_a_careless_counter, 4, cost=NETWORK)
print(f"\ncareless: numbers by rank: {careless.returns}")
for finding in careless.findings:
    print(finding)
