"""File: open and close, which are collective; size, views and pointers."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, AnyStr, TypeAlias

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COMM, ERR_DUP_DATAREP, ERR_FILE, ERR_NOT_SAME, ERR_TYPE
from fakempi.mpi.base.constants import (
    DISPLACEMENT_CURRENT,
    MODE_DELETE_ON_CLOSE,
    MODE_RDONLY,
    MODE_SEQUENTIAL,
    SEEK_CUR,
    SEEK_END,
    SEEK_SET,
)
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.rendezvous import Conclude
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.datatypes.datatype import Datatype, new_handle
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.files.accesses import FileAccesses
from fakempi.mpi.files.hints import Hints, check_same
from fakempi.mpi.files.shared_file import SIZE, FilePart, SharedFile, check_mode
from fakempi.mpi.files.state import OpenFiles
from fakempi.mpi.files.storage import delete
from fakempi.mpi.files.views import NATIVE, View, in_file
from fakempi.mpi.interfaces.buffers import Buffer

if TYPE_CHECKING:
    from typing_extensions import Self

_WHENCE = {SEEK_SET: "SEEK_SET", SEEK_CUR: "SEEK_CUR", SEEK_END: "SEEK_END"}

Filename: TypeAlias = PathLike[AnyStr] | str | bytes


class File(FileAccesses, Handled["File"]):
    """A file that the ranks of a communicator have opened collectively."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, file: File | None = None) -> Self:
        if file is not None and not isinstance(file, File):
            raise mpi_error(ERR_FILE, f"cannot create a {cls.__name__} from {file!r}.", MPITypeError)
        self = super().__new__(cls)
        self._part = None if file is None else file._part
        return self

    def _mpi_object(self) -> object | None:
        return None if self._part is None or self._part.opened is None else self._part

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._mpi_object() is None:
            return "FILE_NULL" if self is FILE_NULL else (type(self), ())
        raise mpi_error(ERR_FILE, "a File cannot be pickled: it is only valid in this process.", MPIValueError)

    def __repr__(self) -> str:
        part = self._part
        return f"<{type(self).__name__}: {'null' if part is None or part.opened is None else repr(part.opened.path)}>"

    # -- open and close -------------------------------------------------------------------------------------------

    @classmethod
    def Open(cls, comm: Intracomm, filename: Filename[AnyStr], amode: int = MODE_RDONLY, info: Info = INFO_NULL) -> Self:
        """Open a file collectively; all ranks pass the same mode."""
        if not isinstance(comm, Comm):
            raise mpi_error(ERR_COMM, f"comm is {comm!r}, not a communicator.", MPITypeError)
        if comm.Is_inter():
            comm._raise(mpi_error(ERR_COMM, "an intercommunicator cannot open a file: merge it first."))
        path, amode, universe = _path(filename), integer("amode", amode), comm._process.universe
        context: Context = comm._context

        hints = Hints().updated(info)

        def open_it(given: dict[int, tuple[str, int, Hints]]) -> SharedFile:
            modes = {mode for _, mode, _ in given.values()}
            if len(modes) > 1:
                raise mpi_error(ERR_NOT_SAME, f"amode is {' and '.join(map(str, sorted(modes)))} on different ranks.")
            names = list(dict.fromkeys(os.path.realpath(given[rank][0]) for rank in sorted(given)))
            if len(names) > 1:
                raise mpi_error(ERR_NOT_SAME, f"filename is {names[0]} and {names[1]} on different ranks.")
            check_same(given[rank][2] for rank in sorted(given))
            check_mode(amode)
            return SharedFile(universe, path, amode, context.duplicate())

        self = cls()
        try:
            opened = comm._rendezvous("File.Open", (path, amode, hints), open_it)
        except MPIError as error:
            self._raise_with_call(error)
        side = opened.context.sides[0]
        self._part = FilePart(opened, Comm._make(comm._process, side, side, comm.Get_rank()))
        untrack("communicator-leak", opened.context)  # fakempi frees this communicator: the rank only has to close the file
        self._part.info, self._part.hints = Info._copy_of(info or None), hints
        track("file-leak", self._part)
        return self

    def Close(self) -> None:
        """Close the file collectively; MODE_DELETE_ON_CLOSE deletes it."""
        part = self._alive()
        if part.split is not None:
            self._split_error(f"{part.split[0]}_begin has been called without {part.split[0]}_end.")
        opened = self._opened

        def close(values: dict[int, object]) -> None:
            opened.synchronized()
            opened.storage.close()
            if opened.amode & MODE_DELETE_ON_CLOSE:
                delete(opened.path)

        self._rendezvous("Close", None, close)
        untrack("file-leak", part)
        part.opened = None
        self._part = None

    def free(self) -> None:
        """Close the file if it is open."""
        if self._mpi_object() is not None:
            self.Close()

    @classmethod
    def Delete(cls, filename: Filename[AnyStr], info: Info = INFO_NULL) -> None:
        """Delete a file."""
        path = _path(filename)
        try:
            delete(path)
        except MPIError as error:
            cls()._raise_with_call(error)

    # -- size and properties --------------------------------------------------------------------------------------

    def Set_size(self, size: int) -> None:
        """Truncate the file, or extend it by zeros; collective."""
        self._resize("Set_size", size, grow_only=False)

    def Preallocate(self, size: int) -> None:
        """Extend the file to at least `size` bytes; collective."""
        self._resize("Preallocate", size, grow_only=True)

    def Get_size(self) -> int:
        """Return the size of the file in bytes."""
        self._note([SIZE], False)
        return self._opened.storage.size

    def Get_amode(self) -> int:
        """Return the access mode of the file."""
        return self._opened.amode

    def Get_group(self) -> Group:
        """Return the group of ranks that opened the file."""
        return self._alive().comm.Get_group()

    def Get_info(self) -> Info:
        """Return a copy of the file's info."""
        return Info.Create(self._alive().info)

    def Set_info(self, info: Info) -> None:
        """Set the file's info collectively; hints for collective accesses must be the same on all ranks."""
        part = self._alive()
        part.hints = self._common_hints("Set_info", info)
        part.info = Info._copy_of(info or None)

    def Set_atomicity(self, flag: bool) -> None:
        """Set the atomic mode collectively; accesses are atomic in both modes."""
        opened = self._opened
        self._require_same("Set_atomicity", "flag", bool(flag), lambda same: setattr(opened, "atomic", same))

    def Get_atomicity(self) -> bool:
        """Return the atomic mode."""
        return self._opened.atomic

    def Sync(self) -> None:
        """Synchronize the file collectively. Data are already in the file, so only the race detection uses it."""
        opened = self._opened
        self._rendezvous("Sync", None, lambda values: opened.synchronized())

    # -- views and pointers ---------------------------------------------------------------------------------------

    def Set_view(
        self, disp: int = 0, etype: Datatype = BYTE, filetype: Datatype | None = None, datarep: str = "native",
        info: Info = INFO_NULL,
    ) -> None:  # fmt: skip
        """Set this rank's view collectively, with an etype of the same size on all ranks; pointers return to 0."""
        part, opened = self._alive(), self._opened
        filetype = etype if filetype is None else filetype
        for name, datatype in (("etype", etype), ("filetype", filetype)):
            if not isinstance(datatype, Datatype) or not datatype:
                raise mpi_error(ERR_TYPE, f"the {name} is {datatype!r}, not a datatype.", MPITypeError)
        disp = integer("disp", disp, 64)
        if disp == DISPLACEMENT_CURRENT and opened.amode & MODE_SEQUENTIAL:
            disp = part.view.byte(opened.pointer)
        else:
            self._reject_sequential("disp must be DISPLACEMENT_CURRENT", ERR_ARG)
        try:
            view = View(disp, Datatype(etype), Datatype(filetype), datarep)
        except MPIError as error:
            self._raise(error)
        hints = part.hints.updated(info)

        def rewind(given: dict[int, tuple[int, Hints]]) -> None:
            sizes = sorted({size for size, _ in given.values()})
            if len(sizes) > 1:
                raise mpi_error(ERR_NOT_SAME, f"the etype's size is {sizes[0]} and {sizes[1]} on different ranks.")
            check_same(given[rank][1] for rank in sorted(given))
            opened.pointer = 0

        self._rendezvous("Set_view", (etype.size, hints), rewind)
        part.view, part.pointer, part.hints = view, 0, hints
        if info:
            part.info = Info._copy_of(info)

    def Get_view(self) -> tuple[int, Datatype, Datatype, str]:
        """Return displacement, etype, filetype and data representation; the program must free derived types."""
        view = self._alive().view
        return view.displacement, new_handle(view.etype._definition), new_handle(view.filetype._definition), view.datarep

    def Seek(self, offset: int, whence: int = SEEK_SET) -> None:
        """Move this rank's pointer; offsets are in etypes."""
        part = self._check_pointer()
        part.pointer = self._target_offset(part.pointer, offset, whence)

    def Get_position(self) -> int:
        """Return this rank's pointer, in etypes."""
        return self._check_pointer().pointer

    def Seek_shared(self, offset: int, whence: int = SEEK_SET) -> None:
        """Move the shared pointer collectively, to the same offset on all ranks."""
        opened = self._opened
        self._reject_sequential()
        to = self._target_offset(opened.pointer, offset, whence)
        self._require_same("Seek_shared", "the new offset", to, lambda same: setattr(opened, "pointer", same))

    def Get_position_shared(self) -> int:
        """Return the shared pointer, in etypes."""
        self._await_turn()
        self._reject_sequential()
        return self._opened.pointer

    def Get_byte_offset(self, offset: int) -> int:
        """Return the byte of the file at an offset in etypes."""
        self._reject_sequential()
        return self._alive().view.byte(self._offset(offset))

    def Get_type_extent(self, datatype: Datatype) -> int:
        """Return the extent of a datatype in the file."""
        view = self._alive().view
        if not isinstance(datatype, Datatype):
            raise mpi_error(ERR_TYPE, f"datatype is {datatype!r}, not a Datatype such as MPI.INT.", MPITypeError)
        return in_file(datatype).extent if view.external else datatype.extent

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.Get_size()

    @property
    def amode(self) -> int:
        """The access mode."""
        return self.Get_amode()

    @property
    def group(self) -> Group:
        """The group of the file's communicator."""
        return self.Get_group()

    @property
    def group_size(self) -> int:
        """The number of ranks in the group."""
        return self._alive().comm.Get_size()

    @property
    def group_rank(self) -> int:
        """This process's rank in the group."""
        return self._alive().comm.Get_rank()

    @property
    def info(self) -> Info:
        """A copy of the info."""
        return self.Get_info()

    @info.setter
    def info(self, info: Info) -> None:
        self.Set_info(info)

    @property
    def atomicity(self) -> bool:
        """Whether accesses are atomic."""
        return self.Get_atomicity()

    @atomicity.setter
    def atomicity(self, atomicity: bool) -> None:
        self.Set_atomicity(atomicity)

    # -- collective calls -----------------------------------------------------------------------------------------

    def _rendezvous(self, call: str, value: object, conclude: Conclude) -> Any:
        try:
            return self._alive().comm._rendezvous(f"File.{call}", value, conclude)
        except MPIError as error:
            self._raise_with_call(error)

    def _require_same(self, call: str, what: str, value: object, do: Callable[[Any], None]) -> None:
        """Call `do` once after all ranks have called with the same value; raise an error if values differ."""

        def conclude(values: dict[int, Any]) -> None:
            if len(set(values.values())) > 1:
                one, other = sorted(set(values.values()))[:2]
                raise mpi_error(ERR_NOT_SAME, f"{what} is {one} and {other} on different ranks.")
            do(value)

        self._rendezvous(call, value, conclude)

    def _common_hints(self, call: str, info: Info) -> Hints:
        """Return the hints updated by an info; raise an error if ranks differ."""
        hints = self._alive().hints.updated(info)
        self._rendezvous(call, hints, lambda given: check_same(given[rank] for rank in sorted(given)))
        return hints

    def _resize(self, call: str, size: int, *, grow_only: bool) -> None:
        storage = self._opened.storage
        self._check(write=True, shared=True)
        self._reject_sequential()

        def resize(size: int) -> None:
            if not grow_only or size > storage.size:
                storage.resize(size)

        self._require_same(call, "size", self._offset(size), resize)

    def _check_pointer(self) -> FilePart:
        return self._check(write=not self._opened.amode & MODE_RDONLY)

    def _target_offset(self, pointer: int, offset: int, whence: int) -> int:
        whence = integer("whence", whence)
        if whence not in _WHENCE:
            sentence = f"whence is {whence!r}: expecting {', '.join(_WHENCE.values())}."
            self._raise(mpi_error(ERR_ARG, sentence))
        start = {SEEK_SET: 0, SEEK_CUR: pointer}.get(whence)
        if start is None:
            self._note([SIZE], False)
            start = self._alive().view.end(self._opened.storage.size)
        to = start + integer("offset", offset, 64)
        if to < 0:
            self._raise(mpi_error(ERR_ARG, f"offset {offset} from {_WHENCE[whence]} results in {to}, which is negative."))
        return to


FILE_NULL = File()


def Register_datarep(
    datarep: str,
    read_fn: Callable[[Buffer, Datatype, int, Buffer, int], None],
    write_fn: Callable[[Buffer, Datatype, int, Buffer, int], None],
    extent_fn: Callable[[Datatype], int],
) -> None:
    """Register a user-defined data representation; only without conversion functions."""
    process = running_process()
    known = process.universe.state(OpenFiles).datareps.setdefault(process.number, {*NATIVE, "external32"})
    if datarep in known:
        raise mpi_error(ERR_DUP_DATAREP, f"the data representation {datarep!r} is already registered.")
    if read_fn is not None or write_fn is not None:
        raise NotImplementedError("MPI.Register_datarep with conversion functions is not supported.")
    known.add(datarep)


def _path(filename: Filename[AnyStr]) -> str:
    """Return a file name as a string."""
    try:
        return os.fsdecode(filename)
    except TypeError:
        raise mpi_error(ERR_ARG, f"filename is {filename!r}, not a path.", MPITypeError) from None
