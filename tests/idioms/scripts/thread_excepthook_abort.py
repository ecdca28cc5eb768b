"""An exception in a thread ends all by threading.excepthook."""

# ranks: 2
import threading
from mpi4py import MPI

comm = MPI.COMM_WORLD


def hook(args):
    print("thread failed:", args.exc_type.__name__, args.exc_value, args.thread.name, flush=True)
    comm.Abort(9)


threading.excepthook = hook


def work():
    raise RuntimeError("in thread")


if comm.rank == 1:
    t = threading.Thread(target=work, name="worker-x")
    t.start()
    t.join()
comm.Barrier()
