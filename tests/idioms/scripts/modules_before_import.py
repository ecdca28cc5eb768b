import sys

print(
    "mpi4py" in sys.modules,
    "mpi4py.MPI" in sys.modules,
    [n for n in sys.modules if n.startswith("mpi4py")],
    sys.modules.get("mpi4py"),
)
from mpi4py import MPI  # noqa: E402

print(MPI.COMM_WORLD.rank, "mpi4py" in sys.modules, sys.modules["mpi4py.MPI"] is MPI)
# when: full
