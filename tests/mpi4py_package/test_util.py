"""`mpi4py.util`, `mpi4py.typing` and private names, without mpi4py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.isolation.harness import play

OURS = """
import sys
assert {module.__file__.split("fakempi")[-1][1:17] for name, module in sys.modules.items()
        if name.startswith("mpi4py.util")} == {"isolation/mpi4py"}
"""


def test_objects_are_sent_in_parts(tmp_path: Path, backend: Any) -> None:
    """A message of sizes, the pickle, and each large buffer; blocking, nonblocking, probed, collective."""
    script = """
    import numpy as np
    from mpi4py.util import pkl5
    me, p = comm.rank, comm.size
    big = np.arange(100_000) + me
    other = pkl5.Intracomm(comm)
    status = MPI.Status()
    got = other.sendrecv(big, (me + 1) % p, 3, source=(me - 1) % p, status=status)
    assert (got == np.arange(100_000) + (me - 1) % p).all() and got.flags.writeable and got is not big
    assert (status.source, status.tag) == ((me - 1) % p, 3) and status.Get_count() > big.nbytes
    request = other.isend([big, me], me, 4)
    message = other.mprobe(source=me, tag=4, status=status)
    assert len(message) == 3 and status.Get_count() > big.nbytes and message
    incoming = message.irecv()
    assert incoming.wait()[1] == me and incoming == MPI.REQUEST_NULL and not incoming
    assert request.wait() is None
    assert other.improbe() is None
    requests = [other.issend(i, me) for i in range(3)]
    assert [other.mprobe().recv() for _ in range(3)] == [0, 1, 2]
    assert pkl5.Request.waitall(requests) == [None] * 3 and pkl5.Request.testall(requests) == (True, [None] * 3)
    other.send("small", me)
    assert other.recv(bytearray(1000), source=me) == "small"
    other.send(1, MPI.PROC_NULL)
    assert other.recv(source=MPI.PROC_NULL) is None and other.mprobe(MPI.PROC_NULL).recv() is None
    assert other.mprobe(MPI.PROC_NULL).irecv().wait() is None and MPI.MESSAGE_NO_PROC
    assert incoming.__eq__("x") is incoming.__ne__("x") is message.__eq__("x") is NotImplemented
    pkl5._bigmpi.blocksize = 1000
    assert (other.sendrecv(big, me, 0, None, me, 0) == big).all() and not pkl5._bigmpi.cache
    vars(pkl5._bigmpi).pop("blocksize", None)  # which ranks share
    MPI.Attach_buffer(bytearray(2_000_000))
    other.bsend(big, me)
    other.ibsend(big, me).wait()
    assert all((other.recv() == big).all() for _ in range(2))
    MPI.Detach_buffer()
    assert other.bcast(big if me == 1 else None, root=1)[0] == 1
    assert [x[0] for x in other.allgather(big)] == list(range(p))
    assert other.gather(me, root=2) == (list(range(p)) if me == 2 else None)
    assert other.scatter([i * i for i in range(p)] if me == 2 else None, root=2) == me**2
    assert other.alltoall([(me, i) for i in range(p)]) == [(i, me) for i in range(p)]
    for wrong, kind in [(lambda: other.alltoall([1]), ValueError), (lambda: other.bcast(1, root=p), MPI.Exception),
                        (lambda: other.irecv(), RuntimeError)]:
        try:
            wrong()
        except kind:
            pass
        else:
            raise AssertionError
    """
    play(tmp_path, script + OURS.replace("\n", "\n    "), 4, backend)


def test_objects_are_sent_in_parts_between_two_groups(tmp_path: Path) -> None:
    """Every collective call of them, with the root in either group."""
    script = """
    from mpi4py.util import pkl5
    odd = comm.rank % 2
    half = comm.Split(odd)
    inter = pkl5.Intercomm(half.Create_intercomm(0, comm, 1 - odd))
    theirs = list(range(1 - odd, comm.size, 2))
    assert inter.allgather(comm.rank) == theirs and inter.alltoall([odd] * len(theirs)) == [1 - odd] * len(theirs)
    for from_odd in (0, 1):
        root = (MPI.ROOT if half.rank == 1 else MPI.PROC_NULL) if odd == from_odd else 1
        got = inter.bcast("b", root), inter.gather(comm.rank, root), inter.scatter("xy" if root == MPI.ROOT else None, root)
        if odd != from_odd:
            assert got == ("b", None, "xy"[half.rank])
        else:
            assert got == (None, theirs if root == MPI.ROOT else None, None)
    """
    play(tmp_path, script, 4)


def test_datatypes_convert_between_numpy_and_mpi(tmp_path: Path) -> None:
    """In both directions, for all combiners; datatypes without a counterpart are rejected."""
    script = """
    import numpy as np
    from mpi4py.util.dtlib import from_numpy_dtype, to_numpy_dtype
    for dtype in ("d", "i4,f8", "(2,3)i2", [("f0", "u1"), ("f1", "f4", 3)], np.dtype("i1,d,i2", align=True), "?", "g", "S1"):
        made = from_numpy_dtype(dtype)
        assert to_numpy_dtype(made) == np.dtype(dtype) and made.extent == np.dtype(dtype).itemsize
    assert to_numpy_dtype(MPI.DOUBLE_INT) == np.dtype("d,i", align=True)
    INT, C = MPI.INT, MPI.Datatype
    two = [(("i4", (2,)), 0), (("i4", (2,)), 16)]
    def record(fields, itemsize):
        return np.dtype({"names": ["f0", "f1"], "formats": [kind for kind, _ in fields],
                         "offsets": [offset for _, offset in fields], "itemsize": itemsize})
    for made, expected in [
        (INT.Create_contiguous(3), np.dtype(("i4", (3,)))),
        (INT.Create_vector(2, 2, 4), record(two, 24)),
        (INT.Create_hvector(2, 2, 16), record(two, 24)),
        (INT.Create_indexed_block(2, [0, 4]), record(two, 24)),
        (INT.Create_hindexed([2, 2], [0, 16]), record(two, 24)),
        (INT.Create_subarray([3, 4], [3, 4], [0, 0], MPI.ORDER_F), np.dtype(("i4", (4, 3)))),
        (C.Create_struct([1, 2], [0, 8], [MPI.CHAR, MPI.DOUBLE]), record([("S1", 0), (("f8", (2,)), 8)], 24)),
        (C.Create_f90_real(15, MPI.UNDEFINED), np.dtype("d")),
    ]:
        assert to_numpy_dtype(made) == expected, (to_numpy_dtype(made), expected)
    part, padded = INT.Create_subarray([3], [2], [0]), INT.Create_resized(0, 12)
    for call, wrong in [(from_numpy_dtype, "O"), (from_numpy_dtype, ">i4"), (to_numpy_dtype, MPI.DATATYPE_NULL),
                        (to_numpy_dtype, part), (to_numpy_dtype, padded)]:
        try:
            call(wrong)
        except ValueError:
            pass
        else:
            raise AssertionError
    """
    play(tmp_path, script, 1)


def test_each_rank_has_its_tables_of_datatypes(tmp_path: Path, backend: Any) -> None:
    """A datatype that one rank adds is not seen by the others."""
    script = """
    from mpi4py.MPI import _typedict
    MPI._typedict["x"] = MPI._typedict_c["x"] = MPI._typedict_f["x"] = rank = comm.rank
    comm.Barrier()
    assert (MPI._typedict["x"], MPI._typedict_c["x"], MPI._typedict_f["x"], _typedict["x"]) == (rank,) * 4
    assert "_typedict" in dir(MPI) and MPI._typedict is _typedict
    """
    play(tmp_path, script, 2, backend)


def test_private_names_that_programs_use(tmp_path: Path, backend: Any) -> None:
    """Type codes, handles as in C, locks and duplicates of communicators."""
    script = """
    import ctypes
    assert MPI._typedict["d"] == MPI._typedict_c["f8"] == MPI.DOUBLE and MPI._typedict_f["r8"] == MPI.REAL8
    assert len(MPI._typedict) == 57 and len(MPI._typedict_c) == 33 and len(MPI._typedict_f) == 17
    assert (MPI._typecode(MPI.DOUBLE), MPI._typecode(MPI.DOUBLE_INT), MPI._typealign(MPI.SHORT)) == ("d", None, 2)
    assert MPI._sizeof(comm) == MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) and MPI._sizeof(MPI.Status) > 0
    assert ctypes.c_void_p.from_address(MPI._addressof(comm)).value == MPI._handleof(comm) == comm.handle
    status = MPI.Status()
    status.tag = 7
    assert 7 in (ctypes.c_int * MPI.F_STATUS_SIZE).from_address(MPI._addressof(status)) and MPI._handleof(MPI.COMM_NULL) == 0
    for wrong in (MPI._sizeof, MPI._addressof, MPI._handleof):
        try:
            wrong(3)
        except TypeError as error:
            assert str(error).startswith("expecting an MPI ")
        else:
            raise AssertionError
    with MPI._comm_lock(comm, "mine") as held:
        comm.Barrier()
    assert list(MPI._comm_lock_table(comm)) == ["mine"] and MPI._comm_lock_table(MPI.COMM_SELF) == {}
    duplicate, tag = MPI._commctx_intra(comm)
    assert duplicate.Compare(comm) == MPI.CONGRUENT and MPI._commctx_intra(comm) == (duplicate, tag + 1)
    """
    play(tmp_path, script, 2, backend)


def test_names_that_mpi4py_never_had_do_not_exist(tmp_path: Path) -> None:
    """The error has the name."""
    script = """
    try:
        import mpi4py.nothing
    except ImportError as error:
        assert str(error) == "No module named 'mpi4py.nothing' in fakempi's mpi4py."
    else:
        raise AssertionError
    import mpi4py.typing
    assert set(mpi4py.typing.__all__) <= set(vars(mpi4py.typing)) and len(mpi4py.typing.__all__) == 16
    """
    play(tmp_path, script, 1)
