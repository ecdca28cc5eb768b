"""multiprocessing.Process, Queue, Manager and shared memory on every rank."""

# ranks: 2
import multiprocessing as mp
from multiprocessing import shared_memory
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def child(q, d, name, rank):
    s = shared_memory.SharedMemory(name=name)
    a = np.ndarray((4,), dtype="i4", buffer=s.buf)
    a += rank + 1
    d["rank"] = rank
    q.put(("child", rank, int(a.sum())))
    del a
    s.close()


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    q = ctx.Queue()
    s = shared_memory.SharedMemory(create=True, size=16)
    a = np.ndarray((4,), dtype="i4", buffer=s.buf)
    a[:] = 10
    with ctx.Manager() as m:
        d = m.dict()
        p = ctx.Process(target=child, args=(q, d, s.name, comm.rank))
        p.start()
        print(q.get(), comm.rank)
        p.join()
        print(dict(d), p.exitcode, a.tolist())
    total = comm.allreduce(int(a[0]))
    print(total)
    del a
    s.close()
    s.unlink()
