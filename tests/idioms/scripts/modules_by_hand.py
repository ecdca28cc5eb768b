"""sys.modules is changed by hand: a fake module, a blocked import, a replaced module."""

import sys
import types
from mpi4py import MPI

comm = MPI.COMM_WORLD
fake = types.ModuleType("fakemod_xyz")
fake.rank = comm.rank
sys.modules["fakemod_xyz"] = fake
if comm.rank == 1:
    sys.modules["wave"] = None
comm.Barrier()
import fakemod_xyz  # noqa: E402

print(fakemod_xyz.rank == comm.rank, fakemod_xyz is fake, sys.modules["fakemod_xyz"] is fake)
try:
    import wave  # noqa: F401

    print(comm.rank, "wave")
except ImportError as e:
    print(comm.rank, type(e).__name__)
comm.Barrier()
sys.modules.setdefault("other_xyz", types.ModuleType("other_xyz")).v = comm.rank
comm.Barrier()
from other_xyz import v  # noqa: E402

print(v == comm.rank, sys.modules.pop("other_xyz").v == comm.rank, "other_xyz" in sys.modules)
comm.Barrier()
if comm.rank == 2:
    sys.modules.update({"third_xyz": fake})
comm.Barrier()
print(comm.rank, "third_xyz" in sys.modules)
