"""MPI errors whose message begins with the public call and the rank."""

from __future__ import annotations

import traceback
from operator import index
from typing import SupportsIndex

from fakempi.errors import MPIError, MPITypeError, text_of
from fakempi.errors.classes import ERR_ARG, ERR_NOT_SAME, ERR_OTHER
from fakempi.mpi.base.call_site import call_site, frame_at, public_call, site_of
from fakempi.mpi.base.current import current_name


def mpi_error(code: int, sentence: str, kind: type[MPIError] = MPIError) -> MPIError:
    """Return an error to raise; call and rank precede the sentence: `Send on rank 2: tag -5 is negative.`

    The call is found on the stack, so this costs nothing unless there is an error.
    """
    (call, frame), name = public_call(frame_at(1)), current_name()
    error = kind(code, f"{call if name is None else f'{call} on {name}'}: {sentence}")
    error.place = None if frame is None else site_of(frame)
    return error


def integer(what: str, value: SupportsIndex) -> int:
    """Return an argument as an integer, or raise an error that names it."""
    try:
        return index(value)
    except TypeError:
        raise mpi_error(ERR_ARG, f"{what} is {value!r}, not an integer.", MPITypeError) from None


def call_mismatch(
    call: str, other_rank: str | None, other_call: str, other_site: str, what: str = "communicator"
) -> MPIError:
    """Return the error of a rank that makes a different collective call than another rank of its communicator."""
    return mpi_error(
        ERR_NOT_SAME,
        f"this rank calls {call} at {call_site()}, but {other_rank} of the same {what} called {other_call} at "
        f"{other_site}: all ranks must make the same collective calls in the same order.",
    )


def callback_error(what: str, reason: Exception) -> tuple[int, str]:
    """Return the error code and the sentence for a failed callback of the program, and print its traceback to stderr.

    mpi4py does the same: a C library can return only an error code, so mpi4py prints the exception that it catches.
    """
    shown = getattr(reason, "print_traceback", None)  # a rank in another process prints it there
    if shown is None:
        traceback.print_exception(reason)
    else:
        shown()
    code = reason.Get_error_code() if isinstance(reason, MPIError) else ERR_OTHER
    return code, f"{what} failed with {type(reason).__name__}: {text_of(reason)}"
