"""Tracebacks of programs: without the frames of fakempi, and of Python's import system next to them.

An exception that leaves a call of ours has the frames of the call in its traceback. Nothing is done while it is raised, so
that calls cost nothing more; the frames are removed where a traceback is shown:

* `shorten` changes an exception at the end of its rank, or before a function of the program receives it (`sys.excepthook`);
* `hide_frames` makes the functions of the module `traceback`, and so `logging.exception`, skip them while a script runs, and
  `inspect.stack`, `sys.__excepthook__` and `sys.unraisablehook`, which prints the exceptions of finalizers.

Exceptions that fakempi raises and handles itself are not shown as the context of another one.

With `fakempi run --full-traceback`, or FAKEMPI_FULL_TRACEBACK=1 in the environment, neither has an effect.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from functools import cache, wraps
from io import StringIO
from itertools import compress, pairwise
from types import FrameType, TracebackType
from typing import Any

from fakempi.errors import MPIError

VARIABLE = "FAKEMPI_FULL_TRACEBACK"
"""The environment variable that shows all frames. Ranks that are processes inherit it."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = (os.path.join(_PACKAGE, ""), os.path.join(os.path.dirname(_PACKAGE), "collectives", ""), "<fakempi")
_EXERCISES = os.path.join(_PACKAGE, "apps", "course", "exercises", "")
"""Programs in our package, for students."""

_IMPORTS = "<frozen importlib"
_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
_PICKLE_THE_PROGRAMS_OBJECTS = tuple(
    os.path.join(*parts)
    for parts in (("buffers", "objects.py"), ("buffers", "pickling.py"), ("buffers", "out_of_band.py"),
                  ("child", "channel.py"), ("child", "package.py"), ("util", "pkl5.py"))
)  # fmt: skip
_IMPORTLIB = os.path.join(_LIBRARY, "importlib", "")
_GROUPS: tuple[type, ...] = tuple(filter(None, [getattr(builtins, "BaseExceptionGroup", None)]))


def shows_all() -> bool:
    """Return whether all frames are to be shown."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


@contextmanager
def all_shown(condition: bool) -> Iterator[None]:
    """Show all frames in this context, if a condition holds: it is `--full-traceback`."""
    before = os.environ.get(VARIABLE)
    if condition:
        os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if condition:
            os.environ.pop(VARIABLE)
            os.environ.update({} if before is None else {VARIABLE: before})


@cache
def is_our_file(file: str) -> bool:
    """Return whether code of this file is fakempi's or of `collectives`, and not an exercise of the course."""
    return (os.path.abspath(file).startswith(_OURS[:2]) and not file.startswith(_EXERCISES)) or file.startswith(_OURS[2])


def _is_ours(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    if file == "<string>":  # methods that the standard library generates, for a class of ours or of the program
        return str(frame.f_globals.get("__name__", "")).startswith(("fakempi.", "collectives."))
    return is_our_file(file)


def _shown(frames: list[FrameType]) -> list[bool]:
    """Return which frames of a traceback are the program's; all frames, if none is.

    Frames of Python's import system are left out next to ours, which call it or are called by it. Other frames of the
    standard library are left out if they are called by ours and do not call the program, except those of `pickle`, which
    tell the program why it cannot be done.
    """
    files, ours = [frame.f_code.co_filename for frame in frames], [_is_ours(frame) for frame in frames]
    if all(one or file.startswith(_IMPORTS) for one, file in zip(ours, files, strict=True)):
        return [True] * len(files)
    shown, start = [not one for one in ours], 0  # start: the frames of ours and of importlib that precede the current one
    for position, file in enumerate([*files, ""]):
        is_import = file.startswith(_IMPORTS) or (start == 0 and file.startswith(_IMPORTLIB))
        if position < len(files) and (ours[position] or is_import):
            continue
        if any(ours[start:position]):
            shown[start:position] = [False] * (position - start)
        start = position + 1
    for position, file in enumerate(files):
        if ours[position] and not file.endswith(_PICKLE_THE_PROGRAMS_OBJECTS):
            end = next((i for i in range(position + 1, len(files)) if not _is_library(files[i])), len(files))
            if end == len(files) or ours[end]:
                shown[position:end] = [False] * (end - position)
    return shown


def _is_library(file: str) -> bool:
    return file.startswith((_LIBRARY, "<frozen")) and "-packages" not in file


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def shorten(error: BaseException) -> None:
    """Remove our frames from the traceback of an exception, and from those of its causes, contexts and parts.

    A traceback that has only frames of ours is removed if the error is about the use of fakempi, such as a module that does
    not exist; otherwise it is of a defect in fakempi, and is not changed.
    """
    seen, pending = set[int](), [] if shows_all() else [error]
    while pending:
        error = pending.pop()
        if id(error) in seen:
            continue
        seen.add(id(error))
        _drop_own_contexts(error)
        parts = error.exceptions if isinstance(error, _GROUPS) else ()  # type: ignore[attr-defined]  # since Python 3.11
        pending += [one for one in (error.__cause__, error.__context__, *parts) if one is not None]
        error.__traceback__ = _program_part(error.__traceback__, isinstance(error, (MPIError, ImportError)))


def _drop_own_contexts(error: BaseException) -> None:
    """Forget exceptions that fakempi has raised and handled before it raised this one."""
    context = error.__context__
    while context is not None and (steps := list(_steps(context.__traceback__))):
        if not all(_is_ours(step.tb_frame) for step in steps):
            break
        context = context.__context__
    if context is not error.__context__:
        error.__context__ = context


def _program_part(trace: TracebackType | None, wrong_use: bool) -> TracebackType | None:
    """Return a traceback without our frames. The steps of the traceback are connected anew, so its holders see it, too."""
    steps = list(_steps(trace))
    shown = _shown([step.tb_frame for step in steps])
    if wrong_use and all(shown) and all(_is_ours(step.tb_frame) for step in steps[:1]):
        return None
    kept = list(compress(steps, shown))
    for step, following in pairwise([*kept, None]):
        if step is not None and step.tb_next is not following:
            step.tb_next = following
    return kept[0] if kept else None


def printed(error: BaseException) -> str:
    """Return what Python prints for an uncaught exception, with its suggestions ("Did you mean ...").

    An exception of another process has the attribute `printed_by_child`: what Python would have printed there.
    """
    text: str | None = getattr(error, "printed_by_child", None)
    if text is None:
        with redirect_stderr(StringIO()) as stream:
            sys.__excepthook__(type(error), error, error.__traceback__)
        text = stream.getvalue()
    return text


# -- the module traceback -----------------------------------------------------------------------------------------------


def hide_frames(replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Make the functions of the module `traceback` skip our frames; `replace` sets its attributes."""
    if shows_all():
        return
    for name in ("walk_tb", "_walk_tb_with_full_positions"):  # the second one since Python 3.11
        if hasattr(traceback, name):
            replace(traceback, name, _skipping(getattr(traceback, name)))
    replace(traceback, "walk_stack", _skipping_callers(traceback.walk_stack))
    replace(inspect, "getouterframes", _skipping_outer_frames(inspect.getouterframes))
    replace(traceback.TracebackException, "__init__", _without_own_contexts(traceback.TracebackException.__init__))
    replace(sys, "__excepthook__", _shortening(sys.__excepthook__))
    original, present = sys.__unraisablehook__, sys.unraisablehook
    replace(sys, "__unraisablehook__", _shortening_unraisable(original))
    replace(sys, "unraisablehook", sys.__unraisablehook__ if present is original else _shortening_unraisable(present))


def _skipping(walk: Callable[[TracebackType | None], Iterable[Any]]) -> Callable[[TracebackType | None], Iterable[Any]]:
    def walk_program(tb: TracebackType | None) -> Iterable[Any]:
        return compress(walk(tb), _shown([step.tb_frame for step in _steps(tb)]))

    return walk_program


def _skipping_callers(walk: Callable[[Any], Iterable[Any]]) -> Callable[[Any], Iterable[Any]]:
    def walk_program(f: Any) -> Iterable[Any]:
        if f is None:
            return walk(f)  # finds the frame of its caller by the number of frames in between
        items = list(walk(f))
        return compress(items, reversed(_shown([frame for frame, _ in reversed(items)])))

    return walk_program


def _skipping_outer_frames(get: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    @wraps(get)
    def getouterframes(frame: Any, context: int = 1) -> list[Any]:
        found = get(frame, context)
        return list(compress(found, reversed(_shown([info.frame for info in reversed(found)]))))

    return getouterframes


def _without_own_contexts(make: Callable[..., None]) -> Callable[..., None]:
    @wraps(make)
    def init(self: Any, exc_type: Any, exc_value: Any, *args: Any, **named: Any) -> None:
        if isinstance(exc_value, BaseException):
            _drop_own_contexts(exc_value)
        make(self, exc_type, exc_value, *args, **named)

    return init


def _shortening(print_error: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(print_error)
    def excepthook(exctype: Any, value: Any, traceback: Any, /) -> Any:
        if isinstance(value, BaseException):
            shorten(value)
        return print_error(exctype, value, traceback)

    return excepthook


def _shortening_unraisable(print_error: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @wraps(print_error)
    def unraisablehook(unraisable: Any, /) -> Any:
        error = unraisable.exc_value
        if error is not None:
            shorten(error)
            values = unraisable.exc_type, error, error.__traceback__, unraisable.err_msg, unraisable.object
            unraisable = type(unraisable)(values)
        return print_error(unraisable)

    return unraisablehook
