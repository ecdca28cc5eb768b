"""What a File handle is made of, and what goes wrong with it."""

from __future__ import annotations

from operator import index
from typing import Any, NoReturn

from fakempi.error_classes import (
    ERR_ACCESS,
    ERR_ARG,
    ERR_BUFFER,
    ERR_FILE,
    ERR_IO,
    ERR_READ_ONLY,
    ERR_UNSUPPORTED_OPERATION,
)
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, MODE_RDONLY, MODE_SEQUENTIAL, MODE_WRONLY
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.handling import HandlesErrors
from fakempi.mpi.failures.failure import Failure
from fakempi.mpi.files.opened import Opened, Part
from fakempi.mpi.files.storage import StorageError
from fakempi.wire.envelope import new_envelope


class Access:
    """An access to a file: it ends at a time that is known at once, and a request waits for it as for a message."""

    __slots__ = ("capacity", "content", "end", "envelope", "origin", "told", "waiter")

    def __init__(self, end: Any, nbytes: int) -> None:
        self.end = end
        self.envelope = new_envelope(None, ANY_SOURCE, ANY_TAG, nbytes, None, None, True)  # what a status is told
        self.content = self.waiter = None
        self.capacity = nbytes

    def fail(self, error: MPIError) -> None:
        """Whoever waits for it is told so, as of a message that does not fit."""
        self.envelope.content, self.envelope.nbytes, self.capacity = Failure(error.ierr, str(error.message)), 1, 0


class FileState(HandlesErrors):
    """The state of a File handle. A null handle has no part in anything."""

    __slots__ = ("__weakref__", "_part")

    _part: Part | None

    def _alive(self) -> Part:
        """This rank's part of the file; complains if there is none."""
        part = self._part
        if part is None or part.opened is None:
            raise complaint(ERR_FILE, "the file is null: FILE_NULL, or closed.")
        return part

    @property
    def _opened(self) -> Opened:
        opened = self._alive().opened
        assert opened is not None
        return opened

    def _check(self, *, write: bool, shared: bool = False) -> Part:
        """This rank's part of the file, if it may do this with it."""
        part, amode = self._alive(), self._opened.amode
        part.comm._check_caller()
        if write and amode & MODE_RDONLY:
            self._raise(complaint(ERR_READ_ONLY, f"{self._opened.path} was opened with MODE_RDONLY."))
        if not write and amode & MODE_WRONLY:
            self._raise(complaint(ERR_ACCESS, f"{self._opened.path} was opened with MODE_WRONLY."))
        if amode & MODE_SEQUENTIAL and not shared:
            words = "the file was opened with MODE_SEQUENTIAL: only the shared pointer can be used."
            self._raise(complaint(ERR_UNSUPPORTED_OPERATION, words))
        return part

    def _etypes(self, nbytes: int) -> int:
        """How many etypes so many bytes of memory are."""
        unit = self._alive().view.etype._size
        if nbytes % unit:
            words = f"{nbytes} bytes are not a whole number of etypes, which have {unit} bytes each."
            self._raise(complaint(ERR_IO, words))
        return nbytes // unit

    def _offset(self, offset: Any) -> int:
        try:
            number = index(offset)
        except TypeError:
            raise complaint(ERR_ARG, f"offset is {offset!r}, not an integer.", MPITypeError) from None
        if number < 0:
            self._raise(complaint(ERR_ARG, f"offset {number} is negative."))
        return number

    # -- errors: what is set on FILE_NULL holds for files that are opened from then on ------------------------------------

    def _check_alive(self) -> None:
        if self._part is not None:
            self._alive()

    def _errhandler(self) -> Errhandler | None:
        process = running_process()
        default: Errhandler | None = process.universe.file_errhandlers.get(process.number)
        return default if self._part is None else self._alive().errhandler or default

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        if self._part is None:
            process = running_process()
            process.universe.file_errhandlers[process.number] = errhandler
        else:
            self._alive().errhandler = errhandler

    def _tell(self, error: MPIError) -> NoReturn:
        """Raise what somebody found who did not know for which call that was."""
        self._raise(complaint(error.ierr, str(error.message)) if isinstance(error, StorageError) else error)

    def _complain_of_split(self, words: str) -> NoReturn:
        self._raise(complaint(ERR_IO, words))

    def _refuse_phantom(self, nbytes: int) -> NoReturn:
        self._raise(complaint(ERR_BUFFER, f"a phantom of {nbytes} bytes has no contents to put into a file.", MPITypeError))
