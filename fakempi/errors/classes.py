"""MPI's error classes: their names and numbers, and a sentence for each.

The numbers are MPICH's, so that printed codes match those of MPICH. Classes that MPICH lacks start at 101.
"""

from typing import Final

SENTENCES: dict[int, str] = {}
"""The sentence for each number."""


def _error_class(number: int, sentence: str) -> int:
    """Add an error class, and return its number."""
    SENTENCES[number] = sentence
    return number


SUCCESS: Final[int] = _error_class(0, "no error")
ERR_BUFFER: Final[int] = _error_class(1, "invalid buffer")
ERR_COUNT: Final[int] = _error_class(2, "invalid count")
ERR_TYPE: Final[int] = _error_class(3, "invalid datatype")
ERR_TAG: Final[int] = _error_class(4, "tag out of range")
ERR_COMM: Final[int] = _error_class(5, "invalid communicator")
ERR_RANK: Final[int] = _error_class(6, "rank out of range")
ERR_ROOT: Final[int] = _error_class(7, "root out of range")
ERR_GROUP: Final[int] = _error_class(8, "invalid group")
ERR_OP: Final[int] = _error_class(9, "invalid reduction operation")
ERR_TOPOLOGY: Final[int] = _error_class(10, "the communicator lacks the needed topology")
ERR_DIMS: Final[int] = _error_class(11, "invalid dimensions")
ERR_ARG: Final[int] = _error_class(12, "invalid argument")
ERR_UNKNOWN: Final[int] = _error_class(13, "unknown error")
ERR_TRUNCATE: Final[int] = _error_class(14, "message longer than the receive buffer")
ERR_OTHER: Final[int] = _error_class(15, "some other error")
ERR_INTERN: Final[int] = _error_class(16, "a bug in fakempi")
ERR_IN_STATUS: Final[int] = _error_class(17, "see the error field of each status")
ERR_PENDING: Final[int] = _error_class(18, "the request is still pending")
ERR_REQUEST: Final[int] = _error_class(19, "invalid request")
ERR_ACCESS: Final[int] = _error_class(20, "access to the file was denied")
ERR_AMODE: Final[int] = _error_class(21, "invalid file access mode")
ERR_BAD_FILE: Final[int] = _error_class(22, "invalid file name")
ERR_CONVERSION: Final[int] = _error_class(23, "a data conversion function failed")
ERR_DUP_DATAREP: Final[int] = _error_class(24, "data representation is registered already")
ERR_FILE_EXISTS: Final[int] = _error_class(25, "the file exists")
ERR_FILE_IN_USE: Final[int] = _error_class(26, "the file is in use")
ERR_FILE: Final[int] = _error_class(27, "invalid file handle")
ERR_INFO: Final[int] = _error_class(28, "invalid info object")
ERR_INFO_KEY: Final[int] = _error_class(29, "info key too long or empty")
ERR_INFO_VALUE: Final[int] = _error_class(30, "info value too long or empty")
ERR_INFO_NOKEY: Final[int] = _error_class(31, "no such info key")
ERR_IO: Final[int] = _error_class(32, "input or output failed")
ERR_NAME: Final[int] = _error_class(33, "nothing is published under this name")
ERR_NO_MEM: Final[int] = _error_class(34, "out of memory")
ERR_NOT_SAME: Final[int] = _error_class(35, "ranks disagree on an argument of a collective call")
ERR_NO_SPACE: Final[int] = _error_class(36, "no space left on the device")
ERR_NO_SUCH_FILE: Final[int] = _error_class(37, "no such file")
ERR_PORT: Final[int] = _error_class(38, "invalid port name")
ERR_QUOTA: Final[int] = _error_class(39, "file quota exceeded")
ERR_READ_ONLY: Final[int] = _error_class(40, "the file or file system is read-only")
ERR_SERVICE: Final[int] = _error_class(41, "invalid service name")
ERR_SPAWN: Final[int] = _error_class(42, "processes could not be spawned")
ERR_UNSUPPORTED_DATAREP: Final[int] = _error_class(43, "this data representation is not supported")
ERR_UNSUPPORTED_OPERATION: Final[int] = _error_class(44, "this operation is not supported here")
ERR_WIN: Final[int] = _error_class(45, "invalid window")
ERR_BASE: Final[int] = _error_class(46, "invalid base address")
ERR_LOCKTYPE: Final[int] = _error_class(47, "invalid lock type")
ERR_KEYVAL: Final[int] = _error_class(48, "invalid attribute key")
ERR_RMA_CONFLICT: Final[int] = _error_class(49, "conflicting accesses to a window")
ERR_RMA_SYNC: Final[int] = _error_class(50, "window accessed outside its epoch")
ERR_SIZE: Final[int] = _error_class(51, "invalid size")
ERR_DISP: Final[int] = _error_class(52, "invalid displacement")
ERR_ASSERT: Final[int] = _error_class(53, "invalid assertion")
ERR_RMA_RANGE: Final[int] = _error_class(55, "target memory lies outside the window")
ERR_RMA_ATTACH: Final[int] = _error_class(56, "memory cannot be attached to the window")
ERR_RMA_SHARED: Final[int] = _error_class(57, "the ranks cannot share memory")
ERR_RMA_FLAVOR: Final[int] = _error_class(58, "the call does not fit the window's flavor")
ERR_SESSION: Final[int] = _error_class(75, "invalid session")
ERR_PROC_ABORTED: Final[int] = _error_class(76, "a process has aborted")
ERR_VALUE_TOO_LARGE: Final[int] = _error_class(77, "value too large to be stored")
ERR_ERRHANDLER: Final[int] = _error_class(80, "invalid error handler")
ERR_REVOKED: Final[int] = _error_class(101, "the communicator was revoked")
ERR_PROC_FAILED: Final[int] = _error_class(102, "a process has failed")
ERR_PROC_FAILED_PENDING: Final[int] = _error_class(103, "a process has failed while the request was pending")
ERR_ABI: Final[int] = _error_class(104, "ABI mismatch")
ERR_LASTCODE: Final[int] = _error_class(0x3FFFFFFF, "the last error code")
