"""Tasks on demand, with tags and any source."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

WORK, STOP = 1, 2
if rank == 0:
    status, results, tasks, busy = MPI.Status(), [], list(range(7)), size - 1
    for worker in range(1, size):
        comm.send(tasks.pop(), worker, WORK)
    while busy:
        results.append(comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status))
        if tasks:
            comm.send(tasks.pop(), status.Get_source(), WORK)
        else:
            comm.send(None, status.Get_source(), STOP)
            busy -= 1
    print(sorted(results))
else:
    status = MPI.Status()
    while True:
        task = comm.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == STOP:
            break
        comm.send(task**2, 0)
