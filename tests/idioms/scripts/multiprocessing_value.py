import multiprocessing as mp
from mpi4py import MPI


def work(v, e):
    with v.get_lock():
        v.value += 7
    e.set()


if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    ctx = mp.get_context("fork")
    v, e = ctx.Value("i", comm.rank), ctx.Event()
    p = ctx.Process(target=work, args=(v, e))
    p.start()
    e.wait(20)
    p.join()
    print(comm.rank, v.value, e.is_set(), p.exitcode, comm.allreduce(v.value))
# when: full
