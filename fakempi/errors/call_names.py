"""Names of calls in traces and messages: those that programs write."""

from __future__ import annotations

from types import FrameType


def call_name(frame: FrameType) -> str:
    """Return the name of the function that a frame executes.

    For a special method it is what the program has written in its place: the name of a callable object (`time.sleep`, which
    an object replaces while a script runs), or the class (`Mutex` for `Mutex()` and for `with mutex:`).
    """
    code = frame.f_code
    name = code.co_name
    if not (name.startswith("__") and name.endswith("__")) or not code.co_argcount:
        return name
    owner = frame.f_locals.get(code.co_varnames[0])
    if name == "__call__" and isinstance(given := getattr(owner, "__name__", None), str):
        return given
    return owner.__name__ if isinstance(owner, type) else type(owner).__name__
