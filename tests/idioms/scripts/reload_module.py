import importlib
import os
import sys
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
d = tempfile.mkdtemp()
sys.path.insert(0, d)
sys.dont_write_bytecode = True
p = os.path.join(d, "reloaded_idiom.py")
open(p, "w").write(f"value = {comm.rank}\nlist_ = []\n")
import reloaded_idiom as m  # noqa: E402

m.list_.append(1)
comm.barrier()
open(p, "w").write(f"value = {comm.rank + 1000}\n")
importlib.invalidate_caches()
n = importlib.reload(m)
print(comm.rank, m.value, n is m, m.list_, sys.modules["reloaded_idiom"] is m)
# when: full
