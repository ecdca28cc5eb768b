import contextvars
import threading
from mpi4py import MPI

comm = MPI.COMM_WORLD
var = contextvars.ContextVar("v", default="none")
token = var.set(f"rank {comm.rank}")
comm.barrier()
seen = []
t = threading.Thread(target=lambda: seen.append(var.get()))
t.start()
t.join()
context = contextvars.copy_context()
u = threading.Thread(target=context.run, args=(lambda: seen.append(var.get()),))
u.start()
u.join()
var.reset(token)
print(comm.rank, seen, var.get())
# when: full
