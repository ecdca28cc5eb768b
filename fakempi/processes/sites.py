"""Lines of children's programs in the parent: frames for the calls made there, and tracebacks for exceptions.

The emulator finds the line of a call by the frame that makes it. A call of a child is therefore made by a function whose
code object has the file, the line and the name of the child's function, and whose globals have the name of its module.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, TracebackType
from typing import Any

from fakempi.errors import MPIError, text_of
from fakempi.mpi.base.call_site import frame_at

Caller = Callable[[Callable[..., Any], Sequence[Any], dict[str, Any]], Any]
"""A function that calls another one from a line of a child's program."""


_call: Any = lambda function, args, kwargs: function(*args, **kwargs)  # noqa: E731  on one line, which is moved
_frame: Any = lambda: frame_at(0)  # noqa: E731


def _moved(code: CodeType, file: str, line: int, name: str) -> CodeType:
    return code.replace(co_filename=file, co_firstlineno=line, co_name=name)


def caller(file: str, line: int, name: str, module: str, call: str = "") -> Caller:
    """Return a function that makes calls from a line; `call` is the function of ours that is called there, if any."""
    made = _made_from(_call.__code__, file, line, name, module)
    if not call:
        return made
    within = _made_from(_call.__code__, __file__, _call.__code__.co_firstlineno, call, __name__)
    return lambda function, args, kwargs: made(within, (function, args, kwargs), {})


def _made_from(code: CodeType, file: str, line: int, name: str, module: str) -> Caller:
    return FunctionType(_moved(code, file, line, name), {"__name__": module, "__builtins__": __builtins__}, name)


def _traceback(frames: list[tuple[str, int, str, str]]) -> TracebackType | None:
    traceback = None
    for file, line, name, module in reversed(frames):
        code = _moved(_frame.__code__, file, line, name)
        frame = FunctionType(code, {"__name__": module, "frame_at": frame_at}, name)()
        traceback = TracebackType(traceback, frame, -1, line)
    return traceback


class ChildError(Exception):
    """Base of the parent's counterparts of exception classes that only a child has."""

    text = ""

    def __str__(self) -> str:
        return self.text


def exception(record: dict[str, Any]) -> BaseException:
    """Return an exception from a child's description of it, with traceback and causes."""
    error: BaseException | None = None
    if record["pickle"] is not None:
        try:
            error = pickle.loads(record["pickle"])
        except Exception:
            error = None
    if error is None or text_of(error) != record["text"]:
        names = {"__module__": record["module"], "__qualname__": record["name"]}
        kind = type(record["name"].rpartition(".")[2], (ChildError,), names)
        counterpart: Any = kind(record["text"])
        counterpart.text, error = record["text"], counterpart
    assert error is not None
    error.__traceback__ = _traceback(record["frames"])
    for note in record["notes"]:
        if hasattr(error, "add_note"):
            error.add_note(note)
    error.__cause__ = None if record["cause"] is None else exception(record["cause"])
    error.__context__ = None if record["context"] is None else exception(record["context"])
    error.__suppress_context__ = record["suppress"]
    return error


def to_send(error: BaseException, number: int) -> BaseException:
    """Return an exception to be sent to a child; the child returns the number if the exception ends its program."""
    if isinstance(error, MPIError):
        place, error = error.place, type(error)(error.ierr, error.message)
        error.place = place
    error.parent_number = number  # type: ignore[attr-defined]  # read by `processes.server` only
    return error
