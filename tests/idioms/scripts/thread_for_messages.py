"""A communication thread per rank with its own communicator (THREAD_MULTIPLE)."""

import threading
import queue
from mpi4py import MPI

comm = MPI.COMM_WORLD
inner = comm.Dup()
q = queue.Queue()


def server():
    for _ in range(comm.size):
        st = MPI.Status()
        while not inner.Iprobe(MPI.ANY_SOURCE, 5, st):
            pass
        q.put(inner.recv(source=st.source, tag=5))


t = threading.Thread(target=server, daemon=True)
t.start()
for r in range(comm.size):
    inner.send((comm.rank, r), r, tag=5)
t.join()
print(comm.rank, sorted(q.get() for _ in range(comm.size)))
inner.Free()
