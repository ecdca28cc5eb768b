"""mpi-master-slave: a work queue."""

from mpi4py import MPI
from mpi_master_slave import Master, Slave, WorkQueue


class Squares(Slave):
    """A worker."""

    def do_work(self, data):
        return data * data


if MPI.COMM_WORLD.rank == 0:
    master = Master(range(1, MPI.COMM_WORLD.size))
    queue, results = WorkQueue(master), []
    for number in range(30):
        queue.add_work(number)
    while not queue.done():
        queue.do_work()
        results += queue.get_completed_work()
    master.terminate_slaves()
    print(sum(results))
else:
    Squares().run()
