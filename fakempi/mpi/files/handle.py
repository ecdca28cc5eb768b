"""The state of a File handle, and its error reporting."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.envelope import new_envelope
from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import (
    ERR_ACCESS,
    ERR_ARG,
    ERR_BUFFER,
    ERR_FILE,
    ERR_IO,
    ERR_READ_ONLY,
    ERR_UNSUPPORTED_OPERATION,
)
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, MODE_RDONLY, MODE_SEQUENTIAL, MODE_WRONLY
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.errhandler_calls import HandlesErrors
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.failures.failure import FailedPayload
from fakempi.mpi.files.shared_file import FilePart, SharedFile
from fakempi.mpi.files.state import OpenFiles
from fakempi.mpi.files.storage import StorageError
from fakempi.mpi.interfaces.operations import Waiter
from fakempi.mpi.interfaces.records import CallSite


class FileAccess:
    """An access to a file. Its end is known when it starts; a request waits for it as for a message."""

    __slots__ = ("call_site", "capacity", "end", "envelope", "observed", "payload", "waiter")

    call_site: CallSite
    observed: bool

    def __init__(self, end: Time, nbytes: int) -> None:
        self.end: Time | None = end
        self.envelope = new_envelope(None, ANY_SOURCE, ANY_TAG, nbytes, None, None, True)  # for a Status
        self.payload = None
        self.waiter: Waiter | None = None
        self.capacity = nbytes

    def fail(self, error: MPIError) -> None:
        """Set an error, which is raised as that of a truncated message."""
        self.envelope.payload, self.envelope.nbytes, self.capacity = FailedPayload(error.ierr, str(error.message)), 1, 0


class FileState(HandlesErrors):
    """The state of a File handle. A null handle has no part."""

    __slots__ = ("__weakref__", "_part")

    _part: FilePart | None

    def _alive(self) -> FilePart:
        """Return this rank's part of the file; raise an error if the file is null or closed."""
        part = self._part
        if part is None or part.opened is None:
            raise mpi_error(ERR_FILE, "the file is FILE_NULL or closed.")
        return part

    @property
    def _opened(self) -> SharedFile:
        opened = self._alive().opened
        assert opened is not None
        return opened

    def _check(self, *, write: bool, shared: bool = False) -> FilePart:
        """Return this rank's part of the file; raise an error if the access mode forbids the access."""
        part, amode = self._alive(), self._opened.amode
        part.comm._check_caller()
        if write and amode & MODE_RDONLY:
            self._raise(mpi_error(ERR_READ_ONLY, f"{self._opened.path} was opened with MODE_RDONLY."))
        if not write and amode & MODE_WRONLY:
            self._raise(mpi_error(ERR_ACCESS, f"{self._opened.path} was opened with MODE_WRONLY."))
        if not shared:
            self._reject_sequential("only the shared pointer can be used")
        return part

    def _reject_sequential(
        self, rule: str = "the call needs a file with random access", code: int = ERR_UNSUPPORTED_OPERATION
    ) -> None:
        """Raise an error if the file was opened with MODE_SEQUENTIAL."""
        if self._opened.amode & MODE_SEQUENTIAL:
            self._raise(mpi_error(code, f"the file was opened with MODE_SEQUENTIAL: {rule}."))

    def _etypes(self, nbytes: int) -> int:
        """Return the number of etypes in `nbytes` bytes of memory."""
        unit = self._alive().view.etype._size
        if nbytes % unit:
            sentence = f"{nbytes} bytes are not a multiple of the etype's {unit} bytes."
            self._raise(mpi_error(ERR_IO, sentence))
        return nbytes // unit

    def _offset(self, offset: SupportsIndex) -> int:
        number = integer("offset", offset, 64)
        if number < 0:
            self._raise(mpi_error(ERR_ARG, f"offset {number} is negative."))
        return number

    # -- errors: the handler of FILE_NULL is the default of files that are opened later ---------------------------------

    def _check_alive(self) -> None:
        if self._part is not None:
            self._alive()

    def _errhandler(self) -> Errhandler | None:
        process = running_process()
        default = process.universe.state(OpenFiles).errhandlers.get(process.number)
        return default if self._part is None else self._alive().errhandler or default

    def _default_errhandler(self) -> Errhandler | None:
        options = None if self._part is None else running_process().options
        chosen: Errhandler | None = options.get("file_handler") if options else None
        return chosen

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        if self._part is None:
            process = running_process()
            process.universe.state(OpenFiles).errhandlers[process.number] = errhandler
        else:
            self._alive().errhandler = errhandler

    def _raise_with_call(self, error: MPIError) -> NoReturn:
        """Raise an error; add the name of the call if the operating system reported it."""
        self._raise(mpi_error(error.ierr, str(error.message)) if isinstance(error, StorageError) else error)

    def _split_error(self, sentence: str) -> NoReturn:
        self._raise(mpi_error(ERR_IO, sentence))

    def _reject_phantom(self, nbytes: int) -> NoReturn:
        self._raise(mpi_error(ERR_BUFFER, f"a phantom of {nbytes} bytes has no contents to write to a file.", MPITypeError))
