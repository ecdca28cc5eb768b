"""MPI's error classes: their names and numbers, and a sentence for each.

The numbers are MPICH's, so that programs which print them look familiar. Classes that MPICH lacks start at 101.
"""

from typing import Final

SUCCESS: Final = 0
ERR_BUFFER: Final = 1
ERR_COUNT: Final = 2
ERR_TYPE: Final = 3
ERR_TAG: Final = 4
ERR_COMM: Final = 5
ERR_RANK: Final = 6
ERR_ROOT: Final = 7
ERR_GROUP: Final = 8
ERR_OP: Final = 9
ERR_TOPOLOGY: Final = 10
ERR_DIMS: Final = 11
ERR_ARG: Final = 12
ERR_UNKNOWN: Final = 13
ERR_TRUNCATE: Final = 14
ERR_OTHER: Final = 15
ERR_INTERN: Final = 16
ERR_IN_STATUS: Final = 17
ERR_PENDING: Final = 18
ERR_REQUEST: Final = 19
ERR_ACCESS: Final = 20
ERR_AMODE: Final = 21
ERR_BAD_FILE: Final = 22
ERR_CONVERSION: Final = 23
ERR_DUP_DATAREP: Final = 24
ERR_FILE_EXISTS: Final = 25
ERR_FILE_IN_USE: Final = 26
ERR_FILE: Final = 27
ERR_INFO: Final = 28
ERR_INFO_KEY: Final = 29
ERR_INFO_VALUE: Final = 30
ERR_INFO_NOKEY: Final = 31
ERR_IO: Final = 32
ERR_NAME: Final = 33
ERR_NO_MEM: Final = 34
ERR_NOT_SAME: Final = 35
ERR_NO_SPACE: Final = 36
ERR_NO_SUCH_FILE: Final = 37
ERR_PORT: Final = 38
ERR_QUOTA: Final = 39
ERR_READ_ONLY: Final = 40
ERR_SERVICE: Final = 41
ERR_SPAWN: Final = 42
ERR_UNSUPPORTED_DATAREP: Final = 43
ERR_UNSUPPORTED_OPERATION: Final = 44
ERR_WIN: Final = 45
ERR_BASE: Final = 46
ERR_LOCKTYPE: Final = 47
ERR_KEYVAL: Final = 48
ERR_RMA_CONFLICT: Final = 49
ERR_RMA_SYNC: Final = 50
ERR_SIZE: Final = 51
ERR_DISP: Final = 52
ERR_ASSERT: Final = 53
ERR_RMA_RANGE: Final = 55
ERR_RMA_ATTACH: Final = 56
ERR_RMA_SHARED: Final = 57
ERR_RMA_FLAVOR: Final = 58
ERR_SESSION: Final = 75
ERR_PROC_ABORTED: Final = 76
ERR_VALUE_TOO_LARGE: Final = 77
ERR_ERRHANDLER: Final = 80
ERR_REVOKED: Final = 101
ERR_PROC_FAILED: Final = 102
ERR_PROC_FAILED_PENDING: Final = 103
ERR_ABI: Final = 104
ERR_LASTCODE: Final = 0x3FFFFFFF

SENTENCES: dict[int, str] = {
    SUCCESS: "no error",
    ERR_BUFFER: "this buffer cannot be used",
    ERR_COUNT: "a count that does not fit",
    ERR_TYPE: "not a usable datatype",
    ERR_TAG: "tag out of range",
    ERR_COMM: "not a usable communicator",
    ERR_RANK: "rank out of range",
    ERR_ROOT: "root out of range",
    ERR_GROUP: "not a usable group",
    ERR_OP: "not a usable operation",
    ERR_TOPOLOGY: "the communicator lacks the needed topology",
    ERR_DIMS: "dimensions that do not fit",
    ERR_ARG: "an argument that does not fit",
    ERR_UNKNOWN: "unknown error",
    ERR_TRUNCATE: "message longer than the receive buffer",
    ERR_OTHER: "some other error",
    ERR_INTERN: "a bug in fakempi",
    ERR_IN_STATUS: "see the error field of each status",
    ERR_PENDING: "the request is still pending",
    ERR_REQUEST: "not a usable request",
    ERR_ACCESS: "access to the file was denied",
    ERR_AMODE: "file access mode that does not fit",
    ERR_BAD_FILE: "not a usable file name",
    ERR_CONVERSION: "a data conversion function failed",
    ERR_DUP_DATAREP: "data representation is registered already",
    ERR_FILE_EXISTS: "the file exists",
    ERR_FILE_IN_USE: "the file is in use",
    ERR_FILE: "not a usable file handle",
    ERR_INFO: "not a usable info object",
    ERR_INFO_KEY: "info key too long or empty",
    ERR_INFO_VALUE: "info value too long or empty",
    ERR_INFO_NOKEY: "no such info key",
    ERR_IO: "input or output failed",
    ERR_NAME: "nothing is published under this name",
    ERR_NO_MEM: "out of memory",
    ERR_NOT_SAME: "ranks disagree on an argument of a collective call",
    ERR_NO_SPACE: "no space left on the device",
    ERR_NO_SUCH_FILE: "no such file",
    ERR_PORT: "not a usable port name",
    ERR_QUOTA: "file quota exceeded",
    ERR_READ_ONLY: "the file or file system is read-only",
    ERR_SERVICE: "not a usable service name",
    ERR_SPAWN: "processes could not be spawned",
    ERR_UNSUPPORTED_DATAREP: "this data representation is not supported",
    ERR_UNSUPPORTED_OPERATION: "this operation is not supported here",
    ERR_WIN: "not a usable window",
    ERR_BASE: "not a usable base address",
    ERR_LOCKTYPE: "not a lock type",
    ERR_KEYVAL: "not a usable attribute key",
    ERR_RMA_CONFLICT: "conflicting accesses to a window",
    ERR_RMA_SYNC: "window accessed outside its epoch",
    ERR_SIZE: "size that does not fit",
    ERR_DISP: "displacement that does not fit",
    ERR_ASSERT: "assertion that does not fit",
    ERR_RMA_RANGE: "target memory lies outside the window",
    ERR_RMA_ATTACH: "memory cannot be attached to the window",
    ERR_RMA_SHARED: "memory cannot be shared",
    ERR_RMA_FLAVOR: "the window is of another flavour",
    ERR_SESSION: "not a usable session",
    ERR_PROC_ABORTED: "a process has aborted",
    ERR_VALUE_TOO_LARGE: "value too large for its place",
    ERR_ERRHANDLER: "not a usable error handler",
    ERR_REVOKED: "the communicator was revoked",
    ERR_PROC_FAILED: "a process has failed",
    ERR_PROC_FAILED_PENDING: "a process has failed while the request was pending",
    ERR_ABI: "ABI mismatch",
    ERR_LASTCODE: "the last error code",
}
