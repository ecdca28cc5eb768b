"""The kinds of errors that end a run, as `fakempi explain` names them, and the error that each of them is."""

from __future__ import annotations

from fakempi.errors import (
    Aborted,
    DeadlockError,
    Died,
    Killed,
    LivelockError,
    MPIError,
    OutcomesDifferError,
    RankError,
    RunTimeoutError,
    classes,
)

ERRORS = {
    "deadlock": "ranks wait for each other, and nothing can wake them",
    "livelock": "ranks poll, and no poll can succeed",
    "time-limit": "the run took longer than its limit",
    "results-differ": "results depend on the order of messages",
    "mismatch": "ranks disagree about a collective call",
    "truncation": "a message is longer than the buffer of its receive",
    "invalid-rank": "a destination or a source is not a rank of the communicator",
    "invalid-root": "the root is not a rank of the communicator",
    "invalid-tag": "a tag is out of range",
    "invalid-count": "a count does not fit the buffers",
    "invalid-buffer": "an argument cannot be used as a buffer",
    "invalid-datatype": "a datatype is null, not committed, or not that of the other buffer",
    "invalid-communicator": "a communicator is null: freed, or without this rank",
    "invalid-operation": "an operation is not defined for the datatype",
    "invalid-group": "a group is null, or its ranks are invalid",
    "invalid-request": "a request cannot be used in its present state",
    "invalid-topology": "a communicator lacks a topology, or a grid does not fit",
    "invalid-argument": "another argument has a value that is not allowed",
    "window-error": "an access to a window is not allowed",
    "file-error": "a call of MPI.File failed",
    "spawn-error": "processes were not started, or a port or name is unknown",
    "process-failed": "a call needs a process that has died",
    "killed": "the process of a rank was killed, or crashed",
    "unsupported": "the call or the combination of arguments is not supported",
    "exception": "a rank raised an exception, which ended the run",
    "abort": "a rank called Abort",
}
"""Kind -> its meaning."""

_OF_CLASS = {
    "ERR_TRUNCATE": "truncation",
    "ERR_NOT_SAME": "mismatch",
    "ERR_COMM": "invalid-communicator",
    "ERR_TYPE": "invalid-datatype",
    "ERR_OP": "invalid-operation",
    "ERR_DIMS": "invalid-topology",
    "ERR_IN_STATUS": "invalid-request",
    "ERR_PENDING": "invalid-request",
    "ERR_REVOKED": "process-failed",
    "ERR_RMA_SYNC": "epoch",  # the finding is reported, too
    **dict.fromkeys(("ERR_OTHER", "ERR_ABI", "ERR_INTERN", "ERR_UNKNOWN", "ERR_NO_MEM"), "unsupported"),
    **dict.fromkeys(("ERR_BASE", "ERR_LOCKTYPE", "ERR_SIZE", "ERR_DISP", "ERR_ASSERT"), "window-error"),
    **dict.fromkeys(("ERR_SPAWN", "ERR_PORT", "ERR_NAME", "ERR_SERVICE"), "spawn-error"),
    **dict.fromkeys(
        ("ERR_ACCESS", "ERR_AMODE", "ERR_CONVERSION", "ERR_DUP_DATAREP", "ERR_IO", "ERR_NO_SPACE", "ERR_NO_SUCH_FILE",
         "ERR_QUOTA", "ERR_READ_ONLY", "ERR_UNSUPPORTED_DATAREP"),
        "file-error",
    ),
}  # fmt: skip
"""Error classes whose names do not say their kind."""

_WORDS = {
    "FILE": "file-error",
    "WIN": "window-error",
    "RMA": "window-error",
    "PROC": "process-failed",
    "UNSUPPORTED": "unsupported",
}


def kind_of_class(name: str) -> str:
    """Return the kind of an error class of MPI: `ERR_ROOT` is an invalid-root."""
    if name in _OF_CLASS:
        return _OF_CLASS[name]
    words = name.split("_")[1:]
    found = [_WORDS[word] for word in words if word in _WORDS] or [f"invalid-{words[0].lower()}"]
    return found[0] if found[0] in ERRORS else "invalid-argument"


def error_kind(error: BaseException) -> str:
    """Return the kind of an error that has ended a run; "exception" if it is not one of ours."""
    cause = error.exception if isinstance(error, RankError) else error
    for kind, name in (
        (LivelockError, "livelock"), (DeadlockError, "deadlock"), (RunTimeoutError, "time-limit"),
        (OutcomesDifferError, "results-differ"), (Aborted, "abort"), (Died, "process-failed"), (Killed, "killed"),
    ):  # fmt: skip
        if isinstance(cause, kind):
            return name
    return kind_of_class(class_name(cause)) if isinstance(cause, MPIError) else "exception"


def class_name(error: MPIError) -> str:
    """Return the name of the error class of an MPI error, such as `ERR_ROOT`."""
    number = error.Get_error_class()
    return next(
        (name for name, value in vars(classes).items() if name.startswith("ERR_") and value == number), "ERR_UNKNOWN"
    )
