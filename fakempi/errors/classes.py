"""MPI's error classes: their names and numbers, and a sentence for each.

The numbers are MPICH's, so that printed codes match those of MPICH. Classes that MPICH lacks start at 101.
"""

from typing import Final

SUCCESS: Final[int] = 0
ERR_BUFFER: Final[int] = 1
ERR_COUNT: Final[int] = 2
ERR_TYPE: Final[int] = 3
ERR_TAG: Final[int] = 4
ERR_COMM: Final[int] = 5
ERR_RANK: Final[int] = 6
ERR_ROOT: Final[int] = 7
ERR_GROUP: Final[int] = 8
ERR_OP: Final[int] = 9
ERR_TOPOLOGY: Final[int] = 10
ERR_DIMS: Final[int] = 11
ERR_ARG: Final[int] = 12
ERR_UNKNOWN: Final[int] = 13
ERR_TRUNCATE: Final[int] = 14
ERR_OTHER: Final[int] = 15
ERR_INTERN: Final[int] = 16
ERR_IN_STATUS: Final[int] = 17
ERR_PENDING: Final[int] = 18
ERR_REQUEST: Final[int] = 19
ERR_ACCESS: Final[int] = 20
ERR_AMODE: Final[int] = 21
ERR_BAD_FILE: Final[int] = 22
ERR_CONVERSION: Final[int] = 23
ERR_DUP_DATAREP: Final[int] = 24
ERR_FILE_EXISTS: Final[int] = 25
ERR_FILE_IN_USE: Final[int] = 26
ERR_FILE: Final[int] = 27
ERR_INFO: Final[int] = 28
ERR_INFO_KEY: Final[int] = 29
ERR_INFO_VALUE: Final[int] = 30
ERR_INFO_NOKEY: Final[int] = 31
ERR_IO: Final[int] = 32
ERR_NAME: Final[int] = 33
ERR_NO_MEM: Final[int] = 34
ERR_NOT_SAME: Final[int] = 35
ERR_NO_SPACE: Final[int] = 36
ERR_NO_SUCH_FILE: Final[int] = 37
ERR_PORT: Final[int] = 38
ERR_QUOTA: Final[int] = 39
ERR_READ_ONLY: Final[int] = 40
ERR_SERVICE: Final[int] = 41
ERR_SPAWN: Final[int] = 42
ERR_UNSUPPORTED_DATAREP: Final[int] = 43
ERR_UNSUPPORTED_OPERATION: Final[int] = 44
ERR_WIN: Final[int] = 45
ERR_BASE: Final[int] = 46
ERR_LOCKTYPE: Final[int] = 47
ERR_KEYVAL: Final[int] = 48
ERR_RMA_CONFLICT: Final[int] = 49
ERR_RMA_SYNC: Final[int] = 50
ERR_SIZE: Final[int] = 51
ERR_DISP: Final[int] = 52
ERR_ASSERT: Final[int] = 53
ERR_RMA_RANGE: Final[int] = 55
ERR_RMA_ATTACH: Final[int] = 56
ERR_RMA_SHARED: Final[int] = 57
ERR_RMA_FLAVOR: Final[int] = 58
ERR_SESSION: Final[int] = 75
ERR_PROC_ABORTED: Final[int] = 76
ERR_VALUE_TOO_LARGE: Final[int] = 77
ERR_ERRHANDLER: Final[int] = 80
ERR_REVOKED: Final[int] = 101
ERR_PROC_FAILED: Final[int] = 102
ERR_PROC_FAILED_PENDING: Final[int] = 103
ERR_ABI: Final[int] = 104
ERR_LASTCODE: Final[int] = 0x3FFFFFFF

SENTENCES: dict[int, str] = {
    SUCCESS: "no error",
    ERR_BUFFER: "invalid buffer",
    ERR_COUNT: "invalid count",
    ERR_TYPE: "invalid datatype",
    ERR_TAG: "tag out of range",
    ERR_COMM: "invalid communicator",
    ERR_RANK: "rank out of range",
    ERR_ROOT: "root out of range",
    ERR_GROUP: "invalid group",
    ERR_OP: "invalid reduction operation",
    ERR_TOPOLOGY: "the communicator lacks the needed topology",
    ERR_DIMS: "invalid dimensions",
    ERR_ARG: "invalid argument",
    ERR_UNKNOWN: "unknown error",
    ERR_TRUNCATE: "message longer than the receive buffer",
    ERR_OTHER: "some other error",
    ERR_INTERN: "a bug in fakempi",
    ERR_IN_STATUS: "see the error field of each status",
    ERR_PENDING: "the request is still pending",
    ERR_REQUEST: "invalid request",
    ERR_ACCESS: "access to the file was denied",
    ERR_AMODE: "invalid file access mode",
    ERR_BAD_FILE: "invalid file name",
    ERR_CONVERSION: "a data conversion function failed",
    ERR_DUP_DATAREP: "data representation is registered already",
    ERR_FILE_EXISTS: "the file exists",
    ERR_FILE_IN_USE: "the file is in use",
    ERR_FILE: "invalid file handle",
    ERR_INFO: "invalid info object",
    ERR_INFO_KEY: "info key too long or empty",
    ERR_INFO_VALUE: "info value too long or empty",
    ERR_INFO_NOKEY: "no such info key",
    ERR_IO: "input or output failed",
    ERR_NAME: "nothing is published under this name",
    ERR_NO_MEM: "out of memory",
    ERR_NOT_SAME: "ranks disagree on an argument of a collective call",
    ERR_NO_SPACE: "no space left on the device",
    ERR_NO_SUCH_FILE: "no such file",
    ERR_PORT: "invalid port name",
    ERR_QUOTA: "file quota exceeded",
    ERR_READ_ONLY: "the file or file system is read-only",
    ERR_SERVICE: "invalid service name",
    ERR_SPAWN: "processes could not be spawned",
    ERR_UNSUPPORTED_DATAREP: "this data representation is not supported",
    ERR_UNSUPPORTED_OPERATION: "this operation is not supported here",
    ERR_WIN: "invalid window",
    ERR_BASE: "invalid base address",
    ERR_LOCKTYPE: "invalid lock type",
    ERR_KEYVAL: "invalid attribute key",
    ERR_RMA_CONFLICT: "conflicting accesses to a window",
    ERR_RMA_SYNC: "window accessed outside its epoch",
    ERR_SIZE: "invalid size",
    ERR_DISP: "invalid displacement",
    ERR_ASSERT: "invalid assertion",
    ERR_RMA_RANGE: "target memory lies outside the window",
    ERR_RMA_ATTACH: "memory cannot be attached to the window",
    ERR_RMA_SHARED: "the ranks cannot share memory",
    ERR_RMA_FLAVOR: "the call does not fit the window's flavor",
    ERR_SESSION: "invalid session",
    ERR_PROC_ABORTED: "a process has aborted",
    ERR_VALUE_TOO_LARGE: "value too large to be stored",
    ERR_ERRHANDLER: "invalid error handler",
    ERR_REVOKED: "the communicator was revoked",
    ERR_PROC_FAILED: "a process has failed",
    ERR_PROC_FAILED_PENDING: "a process has failed while the request was pending",
    ERR_ABI: "ABI mismatch",
    ERR_LASTCODE: "the last error code",
}
