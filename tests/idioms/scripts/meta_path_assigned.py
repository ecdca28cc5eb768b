import importlib.abc
import importlib.machinery
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Maker(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == f"made_{comm.rank}" or name == "made_all" else None

    def exec_module(self, module):
        module.value = comm.rank


sys.meta_path = [Maker(), *sys.meta_path]
comm.barrier()
import made_all  # noqa: E402

found = importlib.import_module(f"made_{comm.rank}").value
try:
    importlib.import_module(f"made_{(comm.rank + 1) % comm.size}")
    other = True
except ImportError:
    other = False
comm.barrier()
print(comm.rank, made_all.value, found, other, sum(isinstance(f, Maker) for f in sys.meta_path))
import colorsys  # noqa: E402

print(colorsys.__name__)
# when: full
