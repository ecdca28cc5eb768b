import multiprocessing
from mpi4py import MPI


def work(q, r):
    q.put(("from the child of", r))


if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    ctx = multiprocessing.get_context("fork")
    q = ctx.SimpleQueue()
    p = ctx.Process(target=work, args=(q, comm.rank))
    p.start()
    print(comm.rank, q.get())
    p.join()
    print(comm.rank, p.exitcode, p.name, multiprocessing.current_process().name)
# when: full
