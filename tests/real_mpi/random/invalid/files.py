"""Calls on files with invalid arguments or of a mode that does not allow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene

READS = ("Read", "Read_all", "Read_at", "Read_at_all", "Read_shared", "Iread", "Iread_at", "Iread_all")
WRITES = (
    "Write",
    "Write_all",
    "Write_at",
    "Write_at_all",
    "Write_shared",
    "Iwrite",
    "Iwrite_at",
    "Write_ordered",
    "Iwrite_all",
)


def _transfer(file: Any, name: str, buffer: Any, offset: int = 0) -> Any:
    request = getattr(file, name)(*([offset, buffer] if "_at" in name else [buffer]))
    if request is not None:
        request.Wait()
    return "accepted"


def _mode(s: Scene) -> Any:
    """Access modes that exclude each other or are incomplete."""
    MPI = s.MPI
    mode = s.pick(
        0,
        MPI.MODE_CREATE,
        MPI.MODE_RDONLY | MPI.MODE_WRONLY,
        MPI.MODE_RDONLY | MPI.MODE_RDWR,
        MPI.MODE_WRONLY | MPI.MODE_RDWR,
        MPI.MODE_RDONLY | MPI.MODE_CREATE,
        MPI.MODE_RDONLY | MPI.MODE_EXCL,
        MPI.MODE_RDWR | MPI.MODE_SEQUENTIAL,
    )
    return MPI.File.Open(s.comm, s.path(), mode)


def _exists(s: Scene) -> Any:
    """A new file that exists, or an old one that does not."""
    MPI = s.MPI
    if s.pick(True, False):
        return MPI.File.Open(s.comm, s.path("absent"), s.pick(MPI.MODE_RDONLY, MPI.MODE_WRONLY, MPI.MODE_RDWR))
    s.file()
    return MPI.File.Open(s.comm, s.path(), MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_EXCL)


def _whence(s: Scene) -> Any:
    file = s.file()
    return file.Seek(0, s.pick(-1, 99, 12345))


def _view(s: Scene) -> Any:
    MPI, file = s.MPI, s.file()
    kind = s.pick(
        "displacement", "etype null", "filetype null", "not committed", "representation", "not a multiple", "small"
    )
    made = s.keep(MPI.INT.Create_contiguous(2))
    args = {
        "displacement": (s.pick(-1, -8), MPI.INT, MPI.INT),
        "etype null": (0, MPI.DATATYPE_NULL, MPI.INT),
        "filetype null": (0, MPI.INT, MPI.DATATYPE_NULL),
        "not committed": (0, MPI.INT, made),
        "representation": (0, MPI.INT, MPI.INT, s.pick("nonsense", "")),
        "not a multiple": (0, MPI.DOUBLE, MPI.INT),
        "small": (0, MPI.DOUBLE, s.keep(MPI.INT.Create_contiguous(3).Commit())),
    }
    return file.Set_view(*args[kind])


def _sequential(s: Scene) -> Any:
    """Calls that a file opened with MODE_SEQUENTIAL does not allow."""
    MPI = s.MPI
    file = s.file(MPI.MODE_WRONLY | MPI.MODE_CREATE | MPI.MODE_SEQUENTIAL)
    offset, data = (
        ("Seek", "Seek_shared", "Get_byte_offset", "Set_size", "Set_view"),
        ("Write", "Write_all", "Iwrite", "Write_shared", "Write_ordered"),
    )
    call = s.pick(*offset, *data, "Write_at", "Get_position", "Get_position_shared", "Get_amode")
    args = [0] if call in offset else [s.ints] if call in data else [0, s.ints] if call == "Write_at" else []
    return getattr(file, call)(*args)


def _sizes(s: Scene) -> Any:
    return getattr(s.file(), s.pick("Set_size", "Preallocate"))(s.pick(-1, -100))


def _size_of_read_only(s: Scene) -> Any:
    return getattr(s.file(s.MPI.MODE_RDONLY), s.pick("Set_size", "Preallocate"))(s.pick(0, 128))


def _end(s: Scene) -> Any:
    """The end of a split call that was not begun."""
    return getattr(s.file(), s.pick("Read_all_end", "Write_all_end", "Read_at_all_end", "Write_ordered_end"))(s.ints)


def _begin_twice(s: Scene) -> Any:
    file = s.file()
    file.Write_all_begin(s.ints)
    try:
        return file.Write_all_begin(s.more) and None
    finally:
        file.Write_all_end(s.ints)


def _null(s: Scene) -> Any:
    name = s.pick(
        "Get_size", "Close", "Sync", "Get_position", "Get_view", "Get_amode", "Get_group", "Get_atomicity", "Get_info"
    )
    return getattr(s.MPI.File(), name)()


def _byte_offset(s: Scene) -> Any:
    file = s.file()
    return file.Get_byte_offset(s.pick(-1, -5))


def _buffer(s: Scene) -> Any:
    MPI, file = s.MPI, s.file()
    buffer = s.pick([s.ints, -1, MPI.INT], [s.ints, 1, MPI.DATATYPE_NULL])
    return _transfer(file, s.pick("Write", "Write_at", "Read", "Read_at", "Write_all", "Read_shared"), buffer)


CASES: dict[str, Callable[[Scene], Any]] = {
    "File.Open: mode": _mode,
    "File.Open: exists": _exists,
    "File.Open: comm null": lambda s: s.MPI.File.Open(s.MPI.Intracomm(), s.path(), s.MPI.MODE_RDONLY),
    "File.Delete": lambda s: s.MPI.File.Delete(s.path(f"absent{s.rank}")),
    "File.Read_ordered: a file for writing": lambda s: s.file(s.MPI.MODE_WRONLY | s.MPI.MODE_CREATE).Read_ordered(s.ints),
    "File: read a file for writing": lambda s: _transfer(
        s.file(s.MPI.MODE_WRONLY | s.MPI.MODE_CREATE), s.pick(*READS), s.ints
    ),
    "File: write a file for reading": lambda s: _transfer(s.file(s.MPI.MODE_RDONLY), s.pick(*WRITES), s.ints),
    "File: offset": lambda s: _transfer(
        s.file(),
        s.pick("Read_at", "Write_at", "Read_at_all", "Write_at_all", "Iread_at", "Iwrite_at"),
        s.ints,
        s.pick(-1, -9),
    ),
    "File.Seek: offset": lambda s: s.file().Seek(s.pick(-1, -9), s.pick(s.MPI.SEEK_SET, s.MPI.SEEK_CUR)),
    "File.Seek: whence": _whence,
    "File.Set_view": _view,
    "File: sequential": _sequential,
    "File.Set_size": _sizes,
    "File.Set_size: read only": _size_of_read_only,
    "File: end without begin": _end,
    "File: begin twice": _begin_twice,
    "File null": _null,
    "File.Get_byte_offset": _byte_offset,
    "File: buffer": _buffer,
    "File.Set_info: null": lambda s: s.file().Set_info(s.MPI.Info()),
    "File.Set_errhandler: null": lambda s: s.file().Set_errhandler(s.MPI.Errhandler()),
    "File.Get_type_extent": lambda s: s.file().Get_type_extent(s.MPI.DATATYPE_NULL),
    "Register_datarep": lambda s: s.MPI.Register_datarep(
        s.pick("native", "external32", "internal"), lambda *_: 0, lambda *_: 0, lambda _: 4
    ),
}
