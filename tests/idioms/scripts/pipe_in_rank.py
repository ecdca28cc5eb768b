import os
import select
import threading
from mpi4py import MPI

comm = MPI.COMM_WORLD
r, w = os.pipe()
print(comm.rank, select.select([r], [], [], 0)[0] == [])
t = threading.Thread(target=os.write, args=(w, b"data of %d" % comm.rank))
t.start()
t.join()
ready = select.select([r], [], [], 5)[0]
print(comm.rank, ready == [r], os.read(r, 100))
os.close(r)
os.close(w)
# when: full
