import threading
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
threading.excepthook = lambda args: print(rank, args.exc_type.__name__, args.exc_value, args.thread.name)
t = threading.Thread(target=lambda: 1 / 0, name=f"worker {rank}")
t.start()
t.join()
print(rank, "alive", t.is_alive())
# when: full
