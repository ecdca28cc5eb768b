"""pools like schwimmbad and emcee"""

# ranks: 4
import sys
import atexit
from mpi4py import MPI


class MPIPool:
    def __init__(self, comm=None):
        self.comm = comm or MPI.COMM_WORLD
        self.master = 0
        self.workers = set(range(self.comm.size))
        self.workers.discard(0)
        self.size = self.comm.size - 1
        if not self.is_master():
            try:
                self.wait()
            except Exception:
                print("worker failed")
                sys.exit(1)
            finally:
                pass
            sys.exit(0)
        atexit.register(lambda: print("pool closed"))

    def is_master(self):
        return self.comm.rank == 0

    def wait(self):
        st = MPI.Status()
        while True:
            task = self.comm.recv(source=0, tag=MPI.ANY_TAG, status=st)
            if task is None:
                break
            f, a = task
            self.comm.ssend(f(a), 0, st.tag)

    def map(self, f, tasks):
        ws = self.workers.copy()
        tl = [(i, (f, a)) for i, a in enumerate(tasks)]
        res = [None] * len(tl)
        pend = len(tl)
        while pend:
            if ws and tl:
                w = ws.pop()
                i, t = tl.pop()
                self.comm.send(t, dest=w, tag=i)
            if tl:
                if not self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG):
                    continue
            else:
                self.comm.Probe(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
            st = MPI.Status()
            r = self.comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=st)
            ws.add(st.source)
            res[st.tag] = r
            pend -= 1
        return res

    def close(self):
        if self.is_master():
            for w in self.workers:
                self.comm.send(None, w, 0)

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.close()


def logp(x):
    return -x * x


with MPIPool() as pool:
    print(pool.map(logp, range(8)), pool.size)
