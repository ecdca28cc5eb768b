"""File: opened and closed by all ranks of a communicator; its size, its views and its pointers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_COMM, ERR_DUP_DATAREP, ERR_FILE, ERR_NOT_SAME, ERR_TYPE
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.constants import (
    DISPLACEMENT_CURRENT,
    MODE_DELETE_ON_CLOSE,
    MODE_RDONLY,
    MODE_SEQUENTIAL,
    SEEK_CUR,
    SEEK_END,
    SEEK_SET,
)
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.meeting import Conclude
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.files.accesses import Accesses
from fakempi.mpi.files.hints import Hints, check_same
from fakempi.mpi.files.opened import SIZE, Opened, Part, check_mode
from fakempi.mpi.files.storage import delete
from fakempi.mpi.files.views import NATIVE, View, in_file

if TYPE_CHECKING:
    from typing_extensions import Self

_WHENCE = {SEEK_SET: "SEEK_SET", SEEK_CUR: "SEEK_CUR", SEEK_END: "SEEK_END"}


class File(Accesses, Handled):
    """A file that the ranks of a communicator have opened together."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, file: File | None = None) -> Any:
        if file is not None and not isinstance(file, File):
            raise complaint(ERR_FILE, f"cannot make a {cls.__name__} of {file!r}.", MPITypeError)
        self = super().__new__(cls)
        self._part = None if file is None else file._part
        return self

    def _stands_for(self) -> object | None:
        return None if self._part is None or self._part.opened is None else self._part

    def __reduce__(self) -> Any:
        if self._stands_for() is None:
            return "FILE_NULL" if self is FILE_NULL else (type(self), ())
        raise complaint(ERR_FILE, "a File cannot be pickled: it means nothing to another process.", MPIValueError)

    def __repr__(self) -> str:
        part = self._part
        return f"<{type(self).__name__}: {'null' if part is None or part.opened is None else repr(part.opened.path)}>"

    # -- open and close -------------------------------------------------------------------------------------------

    @classmethod
    def Open(cls, comm: Intracomm, filename: Any, amode: int = MODE_RDONLY, info: Info = INFO_NULL) -> Self:
        """Open a file, all ranks of a communicator together, in the same mode."""
        if not isinstance(comm, Comm):
            raise complaint(ERR_COMM, f"comm is {comm!r}, not a communicator.", MPITypeError)
        if comm.Is_inter():
            comm._raise(complaint(ERR_COMM, "an intercommunicator cannot open a file: merge it first."))
        path, amode, universe = os.fsdecode(filename), integer("amode", amode), comm._process.universe
        context: Any = comm._context

        hints = Hints().updated(info)

        def open_it(said: dict[int, tuple[str, int, Hints]]) -> Opened:
            modes = {mode for _, mode, _ in said.values()}
            if len(modes) > 1:
                raise complaint(ERR_NOT_SAME, f"amode is {' and '.join(map(str, sorted(modes)))} on different ranks.")
            names = list(dict.fromkeys(os.path.realpath(said[place][0]) for place in sorted(said)))
            if len(names) > 1:
                raise complaint(ERR_NOT_SAME, f"filename is {names[0]} and {names[1]} on different ranks.")
            check_same(said[place][2] for place in sorted(said))
            check_mode(amode)
            return Opened(universe, path, amode, context.new_twin())

        self = cls()
        try:
            opened = comm._meet("File.Open", (path, amode, hints), open_it)
        except MPIError as error:
            self._tell(error)
        side = opened.context.sides[0]
        self._part = Part(opened, Comm._make(comm._process, side, side, comm.Get_rank()))
        done("communicator-leak", opened.context)  # this one is ours: closing the file is all that the rank has to do
        self._part.info, self._part.hints = Info._copy_of(info or None), hints
        owes("file-leak", self._part)
        return self

    def Close(self) -> None:
        """Close it, all ranks together; with MODE_DELETE_ON_CLOSE it is gone then."""
        part = self._alive()
        if part.split is not None:
            self._complain_of_split(f"{part.split[0]}_begin has been called, and not {part.split[0]}_end.")
        opened = self._opened

        def close(values: dict[int, Any]) -> None:
            opened.storage.close()
            if opened.amode & MODE_DELETE_ON_CLOSE:
                delete(opened.path)

        self._meet("Close", None, close)
        done("file-leak", part)
        part.opened = None
        self._part = None

    def free(self) -> None:
        """Close it if it is open."""
        if self._stands_for() is not None:
            self.Close()

    @classmethod
    def Delete(cls, filename: Any, info: Info = INFO_NULL) -> None:
        """Remove a file."""
        try:
            delete(os.fsdecode(filename))
        except MPIError as error:
            cls()._tell(error)

    # -- size and properties --------------------------------------------------------------------------------------

    def Set_size(self, size: int) -> None:
        """Cut it off there, or let it grow by zeros; all ranks together."""
        self._resize("Set_size", size, grow_only=False)

    def Preallocate(self, size: int) -> None:
        """Have room for so many bytes; all ranks together."""
        self._resize("Preallocate", size, grow_only=True)

    def Get_size(self) -> int:
        """Bytes in the file."""
        self._note([SIZE], False)
        return self._opened.storage.size

    def Get_amode(self) -> int:
        """The mode in which it was opened."""
        return self._opened.amode

    def Get_group(self) -> Group:
        """The ranks that have opened it."""
        return self._alive().comm.Get_group()  # type: ignore[no-any-return]

    def Get_info(self) -> Info:
        """A copy of its info."""
        return Info.Create(self._alive().info)

    def Set_info(self, info: Info) -> None:
        """Give it info, all ranks together: hints at how they access the file together must be the same."""
        part = self._alive()
        part.hints = self._hinted("Set_info", info)
        part.info = Info._copy_of(info or None)

    def Set_atomicity(self, flag: bool) -> None:
        """Say whether accesses are to be atomic, all ranks the same; here they are in any case."""
        opened = self._opened
        self._same("Set_atomicity", "flag", bool(flag), lambda same: setattr(opened, "atomic", same))

    def Get_atomicity(self) -> bool:
        """What was said."""
        return self._opened.atomic

    def Sync(self) -> None:
        """Have all that was written in the file, all ranks together. It is there already."""
        self._meet("Sync", None, lambda values: None)

    # -- views and pointers ---------------------------------------------------------------------------------------

    def Set_view(
        self, disp: int = 0, etype: Datatype = BYTE, filetype: Datatype | None = None, datarep: str = "native",
        info: Info = INFO_NULL,
    ) -> None:  # fmt: skip
        """Say which bytes are this rank's, all ranks together with the same etype; all pointers go back to the beginning."""
        part, opened = self._alive(), self._opened
        for name, datatype in (("etype", etype), ("filetype", filetype or etype)):
            if not isinstance(datatype, Datatype) or not datatype:
                raise complaint(ERR_TYPE, f"the {name} is {datatype!r}, not a datatype.", MPITypeError)
        disp = integer("disp", disp)
        if disp == DISPLACEMENT_CURRENT and opened.amode & MODE_SEQUENTIAL:
            disp = part.view.byte(opened.pointer)
        try:
            view = View(disp, Datatype(etype), Datatype(filetype or etype), datarep)
        except MPIError as error:
            self._raise(error)
        hints = part.hints.updated(info)

        def rewind(said: dict[int, tuple[int, Hints]]) -> None:
            sizes = sorted({size for size, _ in said.values()})
            if len(sizes) > 1:
                raise complaint(ERR_NOT_SAME, f"the etype's size is {sizes[0]} and {sizes[1]} on different ranks.")
            check_same(said[place][1] for place in sorted(said))
            opened.pointer = 0

        self._meet("Set_view", (etype.size, hints), rewind)
        part.view, part.pointer, part.hints = view, 0, hints
        if info:
            part.info = Info._copy_of(info)

    def Get_view(self) -> tuple[int, Datatype, Datatype, str]:
        """The displacement, the etype, the filetype and the representation."""
        view = self._alive().view
        return view.displacement, Datatype(view.etype), Datatype(view.filetype), view.datarep

    def Seek(self, offset: int, whence: int = SEEK_SET) -> None:
        """Move this rank's pointer, by etypes."""
        part = self._check_pointer()
        part.pointer = self._sought(part.pointer, offset, whence)

    def Get_position(self) -> int:
        """This rank's pointer, in etypes."""
        return self._check_pointer().pointer

    def Seek_shared(self, offset: int, whence: int = SEEK_SET) -> None:
        """Move the shared pointer, all ranks together and to the same place."""
        opened = self._opened
        to = self._sought(opened.pointer, offset, whence)
        self._same("Seek_shared", "the place to go to", to, lambda same: setattr(opened, "pointer", same))

    def Get_position_shared(self) -> int:
        """The shared pointer, in etypes."""
        self._await_turn()
        return self._opened.pointer

    def Get_byte_offset(self, offset: int) -> int:
        """Where in the file an etype begins."""
        return self._alive().view.byte(self._offset(offset))

    def Get_type_extent(self, datatype: Datatype) -> int:
        """How far apart elements of a datatype are in the file."""
        view = self._alive().view
        return in_file(datatype).extent if view.external else datatype.extent

    size = property(Get_size)
    amode = property(Get_amode)
    group = property(Get_group)
    group_size = property(lambda self: self._alive().comm.Get_size())
    group_rank = property(lambda self: self._alive().comm.Get_rank())
    info = property(Get_info, Set_info)
    atomicity = property(Get_atomicity, Set_atomicity)

    # -- together -------------------------------------------------------------------------------------------------

    def _meet(self, call: str, value: Any, conclude: Conclude) -> Any:
        try:
            return self._alive().comm._meet(f"File.{call}", value, conclude)
        except MPIError as error:
            self._tell(error)

    def _same(self, call: str, what: str, value: Any, do: Callable[[Any], None]) -> None:
        """Meet all ranks, which must say the same, and do something about it: once, before any of them goes on."""

        def conclude(values: dict[int, Any]) -> None:
            if len(set(values.values())) > 1:
                one, other = sorted(set(values.values()))[:2]
                raise complaint(ERR_NOT_SAME, f"{what} is {one} and {other} on different ranks.")
            do(value)

        self._meet(call, value, conclude)

    def _hinted(self, call: str, info: Info) -> Hints:
        """What hints say after this info, which all ranks must have alike."""
        hints = self._alive().hints.updated(info)
        self._meet(call, hints, lambda said: check_same(said[place] for place in sorted(said)))
        return hints

    def _resize(self, call: str, size: int, *, grow_only: bool) -> None:
        storage = self._opened.storage
        self._check(write=True, shared=True)

        def resize(size: int) -> None:
            if not grow_only or size > storage.size:
                storage.resize(size)

        self._same(call, "size", self._offset(size), resize)

    def _check_pointer(self) -> Part:
        return self._check(write=not self._opened.amode & MODE_RDONLY)

    def _sought(self, pointer: int, offset: int, whence: int) -> int:
        if whence not in _WHENCE:
            words = f"whence is {whence!r}, which is none of {', '.join(_WHENCE.values())}."
            self._raise(complaint(ERR_ARG, words))
        start = {SEEK_SET: 0, SEEK_CUR: pointer}.get(whence)
        if start is None:
            self._note([SIZE], False)
            start = self._alive().view.end(self._opened.storage.size)
        to = start + integer("offset", offset)
        if to < 0:
            self._raise(complaint(ERR_ARG, f"offset {offset} from {_WHENCE[whence]} leads to {to}."))
        return to


FILE_NULL = File()


def Register_datarep(datarep: str, read_fn: Any, write_fn: Any, extent_fn: Any) -> None:
    """Make a representation of one's own known; not emulated, unless it changes nothing."""
    process = running_process()
    known = process.universe.datareps.setdefault(process.number, {*NATIVE, "external32"})
    if datarep in known:
        raise complaint(ERR_DUP_DATAREP, f"the representation {datarep!r} is known already.")
    if read_fn is not None or write_fn is not None:
        raise NotImplementedError("MPI.Register_datarep is not emulated: fakempi calls no conversion functions.")
    known.add(datarep)
