"""MPI errors whose message begins with the public call and the rank."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from operator import index
from types import FrameType
from typing import NoReturn, SupportsIndex

from fakempi.errors import MPIError, MPIOverflowError, MPITypeError, text_of
from fakempi.errors.classes import ERR_ARG, ERR_NOT_SAME, ERR_OTHER
from fakempi.errors.tracebacks import shorten
from fakempi.mpi.base.call_site import frame_at, is_ours, place_of, place_of_call, public_call
from fakempi.mpi.base.current import current_name


def mpi_error(code: int, sentence: str, kind: type[MPIError] = MPIError) -> MPIError:
    """Return an error to raise; call and rank precede the sentence: `Send on rank 2: tag -5 is negative.`

    The call is found on the stack, so this costs nothing unless there is an error.
    """
    (call, frame), name = public_call(frame_at(1)), current_name()
    error = kind(code, f"{call if name is None else f'{call} on {name}'}: {sentence}")
    error.place = None if frame is None else place_of(frame)
    return error


def range_error(code: int, sentence: str, value: int) -> MPIError:
    """Return an error about an integer outside its range; as in mpi4py, one that C's int cannot have overflows."""
    return mpi_error(code, sentence, MPIError if fits(value) else MPIOverflowError)


def fits(value: int, bits: int = 32) -> bool:
    """Return whether a signed integer of C has this value: an int, or with 64 bits an MPI_Count, MPI_Aint or MPI_Offset."""
    return -1 <= value >> bits - 1 <= 0


_RANKS = ("dest", "source", "root")
_OF_OBJECTS = (
    "send", "ssend", "bsend", "isend", "issend", "ibsend", "recv", "irecv", "sendrecv", "bcast", "gather", "scatter",
    "allgather", "alltoall", "reduce", "allreduce", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall",
)  # fmt: skip
"""The calls that take Python objects, of which calls on buffers have the names in upper case."""


def use_objects(value: object) -> str:
    """Return advice for a call on buffers that received another object; empty for None, which is not data."""
    lower = public_call(frame_at(1))[0].lower()
    return f" Use {lower} for Python objects, or a numpy array." if value is not None and lower in _OF_OBJECTS else ""


def integer(what: str, value: SupportsIndex, bits: int = 32, code: int = ERR_ARG) -> int:
    """Return an argument as an integer, or raise an error that names it.

    An integer that C's type of this size cannot have overflows, as in mpi4py. With 0 bits, any integer is returned: the
    caller checks a smaller range, which its message names (`range_error`).
    """
    try:
        number = index(value)
    except TypeError:
        advice = ": use // to divide ranks" if what in _RANKS and isinstance(value, float) else ""
        sentence = f"{parameter(what, value)} is {shown(value)}, not an integer{advice}."
        raise mpi_error(code, sentence, MPITypeError) from None
    return number if not bits or fits(number, bits) else overflow(what, value, bits, code)


def overflow(what: str, value: object, bits: int = 32, code: int = ERR_ARG) -> NoReturn:
    """Raise the error of an integer that does not fit."""
    sentence = f"{parameter(what, value)} is {shown(value)}, which does not fit in {bits} bits."
    raise mpi_error(code, sentence, MPIOverflowError)


def integers(**values: SupportsIndex) -> list[int]:
    """Return arguments as integers after a TypeError; raise that error again if all of them are integers."""
    if all(type(value) is int for value in values.values()):
        raise
    return [integer(name, value, 0) for name, value in values.items()]


def integer_items(what: str, values: Iterable[SupportsIndex], bits: int = 32) -> list[int]:
    """Return the integers of a sequence, or raise an error that names the argument or its item."""
    if not isinstance(values, Iterable):
        raise mpi_error(ERR_ARG, f"{what} is {shown(values)}, not a sequence of integers.", MPITypeError)
    return [integer(f"item {i} of {what}", value, bits) for i, value in enumerate(values)]


def parameter(kind: str, value: object) -> str:
    """Return the name of the public call's parameter with this value, such as `sendtag` for the kind `tag`; or the kind."""
    frame: FrameType | None = frame_at(1)
    public = None
    while frame is not None and is_ours(frame):
        frame, public = frame.f_back, frame
    if public is None:
        return kind
    names = public.f_code.co_varnames[: public.f_code.co_argcount]
    found = [name for name in names if kind in name and public.f_locals.get(name) is value]
    return kind if kind in found or not found else found[0]


def shown(value: object) -> str:
    """Return the representation of a wrong argument, at most about 60 characters."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else f"{text[:56]} ..."


def call_mismatch(
    call: str, other_rank: str | None, other_call: str, other_place: str, what: str = "communicator"
) -> MPIError:
    """Return the error of a rank that makes a different collective call than another rank of its communicator."""
    return mpi_error(
        ERR_NOT_SAME,
        f"this rank calls {call} at {place_of_call()}, but {other_rank} of the same {what} called {other_call} at "
        f"{other_place}: all ranks must make the same collective calls in the same order.",
    )


def callback_error(what: str, reason: Exception) -> tuple[int, str]:
    """Return the error code and the sentence for a failed callback of the program, and print its traceback to stderr.

    mpi4py does the same: a C library can return only an error code, so mpi4py prints the exception that it catches.
    """
    shown = getattr(reason, "print_traceback", None)  # a rank in another process prints it there
    if shown is None:
        shorten(reason)
        traceback.print_exception(reason)
    else:
        shown()
    code = reason.Get_error_code() if isinstance(reason, MPIError) else ERR_OTHER
    return code, f"{what} failed with {type(reason).__name__}: {text_of(reason)}"
