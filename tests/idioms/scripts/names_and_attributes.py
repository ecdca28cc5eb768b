"""Names, attributes, handles"""

# ranks: 2
from mpi4py import MPI

comm = MPI.COMM_WORLD
print(comm.name, MPI.COMM_SELF.name, MPI.Comm() == MPI.COMM_NULL, MPI.INT.name, MPI.DOUBLE.Get_name(), comm.Dup().name == "")
print(comm.py2f() == MPI.COMM_WORLD.py2f(), MPI.Comm.f2py(comm.py2f()) == comm, MPI._addressof(comm) != 0)
print(bool(MPI.COMM_NULL), bool(comm), MPI.COMM_NULL.__class__.__name__, repr(MPI.UNDEFINED))
info = MPI.Info.Create({"a": "1"})
info["b"] = "2"
info.update(c="3")
print(list(info.items()), len(info), "a" in info, info.pop("a"), dict(info), info.get("zz", "none"))
key = MPI.Comm.Create_keyval(copy_fn=lambda c, k, v: v + 1, delete_fn=lambda c, k, v: print("deleted", v))
comm.Set_attr(key, 5)
d = comm.Dup()
print(d.Get_attr(key))
d.Free()
print(
    comm.Get_attr(MPI.TAG_UB) >= 32767,
    comm.Get_attr(MPI.APPNUM),
    comm.Get_attr(MPI.IO) is not None,
)
try:
    comm.Send([bytearray(1), MPI.BYTE], dest=77)
except MPI.Exception as e:
    print(
        e.Get_error_class() == MPI.ERR_RANK,
        e.error_class,
        type(e).__mro__[1].__name__,
        isinstance(e, RuntimeError),
        int(e) == e.Get_error_code(),
        e == e.Get_error_code(),
    )
print(MPI.Get_error_class(MPI.ERR_TAG) == MPI.ERR_TAG)
print(MPI.Get_version() >= (3, 1), isinstance(MPI.Get_library_version(), str))
print(comm.Get_errhandler() == MPI.ERRORS_RETURN, comm.info.__class__.__name__, comm.is_intra)
c = comm.Dup()
c.name = "solver"
print(c.name, c.Get_name(), MPI.Comm.Compare(c, comm) == MPI.CONGRUENT, c.group.size)
c.Free()
print(c == MPI.COMM_NULL)
g = comm.group.Excl([0])
print(g.rank if g.rank != MPI.UNDEFINED else "undefined", g.size, MPI.Group.Translate_ranks(g, [0], comm.group))
s = MPI.Status()
comm.sendrecv("x", 1 - comm.rank, source=MPI.ANY_SOURCE, status=s)
print(s.source, s.tag, s.error, s.count > 0, s.cancelled)
print(
    MPI.DOUBLE.extent,
    MPI.DOUBLE.size,
    MPI.INT.Create_vector(2, 1, 3).Commit().extent,
    MPI.INT.typestr,
    MPI.DOUBLE.typechar,
    MPI.BYTE.is_predefined,
)
print(MPI.memory is MPI.buffer, MPI.memory.fromaddress(0, 0).nbytes, bytes(MPI.buffer(b"abc")), MPI.Alloc_mem(4).nbytes)
print(  # with --processes, the level is THREAD_SERIALIZED: docs/run_a_script.md
    MPI.Query_thread() >= MPI.THREAD_SERIALIZED,
    MPI.Is_thread_main(),
    MPI.Is_initialized(),
    MPI.Get_address(bytearray(3)) != 0,
)
