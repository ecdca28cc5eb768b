"""Call sites: the public call that is being executed, and the line of the program that made it.

The call site is the innermost frame of the stack that is outside fakempi and `collectives`. The functions here find it by
walking up the stack, past all code of fakempi, so no caller has to know how many frames are in between.

A walk takes 0.1 us for each frame. A method of the public API that needs its caller on every call takes the frame at its
entry with `frame_at(1)`, and passes it as an argument. No code may use another depth (`tests/architecture` checks it).
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any, TypeVar

from fakempi.errors.paths import place_at
from fakempi.mpi.interfaces.records import CallSite, CallSites

frame_at = sys._getframe
"""`frame_at(0)` is the frame of the function that calls this, and `frame_at(1)` the frame of its caller."""

_OURS = ("fakempi", "collectives")
_PROGRAMS = "fakempi.isolation.mpi4py.futures"
"""Modules of ours that call MPI as a program does, from their own threads. Their calls are reported with names and lines."""

_UTILITIES = "mpi4py.util"
"""A package of ours that scripts import by another name. Its calls are reported with the line of its caller."""

_is_internal: dict[str, bool] = {}
"""Name of a module -> whether it is ours, for modules that have been seen on a stack."""

_ours: dict[int, tuple[CodeType, str]] = {}
"""Address of a code object of ours -> the object, and its name if that is public. To hash the code itself takes longer
than the rest of the walk."""

_places: dict[int, tuple[object, dict[int, str]]] = {}
"""Address of a code object -> its `tie`, and instruction -> the place as text. Each collective call needs its place, and to
get the line of a frame takes four times as long as the rest of the walk."""

# -- tables by code -----------------------------------------------------------------------------------------------------

Result = TypeVar("Result")


def tie(table: dict[int, Any], code: CodeType) -> weakref.ref[CodeType]:
    """Return a reference that removes the entry `id(code)` from a table when the code is freed; the entry has to store it.

    So a table does not keep the code of programs alive, and an address in it stands for one code object.
    """
    return weakref.ref(code, partial(_remove, table, id(code)))


def _remove(table: dict[int, Any], address: int, _: object) -> None:
    table.pop(address, None)


def cached_by_code(function: Callable[[CodeType], Result]) -> Callable[[CodeType], Result]:
    """Decorate a function of code to store its results as long as the code exists."""
    known: dict[int, tuple[object, Result]] = {}

    def cached(code: CodeType) -> Result:
        entry = known.get(id(code))
        if entry is None:
            entry = known[id(code)] = tie(known, code), function(code)
        return entry[1]

    return cached


# -- owners of frames ---------------------------------------------------------------------------------------------------


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of fakempi or `collectives`."""
    module = frame.f_globals.get("__name__", "")
    known = _is_internal.get(module)
    if known is None:
        ours = module.partition(".")[0] in _OURS and not module.startswith(_PROGRAMS)
        known = _is_internal[module] = ours or module.startswith(_UTILITIES)
    return known


def is_library(frame: FrameType) -> bool:
    """Whether a frame is in the standard library, or in the part of pytest that imports modules to rewrite `assert`."""
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] in sys.stdlib_module_names or name == "_pytest.assertion.rewrite"


GETTERS = {name: f"Get_{name}" for name in ("rank", "size", "group", "name", "remote_group", "remote_size", "topology")}
"""Properties and the calls that reports name in their place: "rank on rank 0" would be hard to read."""


# -- from a frame ------------------------------------------------------------------------------------------------------


def public_call(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """The name of the public call, and the frame of the program that made it: the first one above all of ours."""
    name, last = "MPI", None
    while frame is not None:
        code = frame.f_code
        known = _ours.get(id(code))
        if known is None:
            if not is_ours(frame):
                break
            known = _ours[id(code)] = code, "" if code.co_name[0] == "_" else GETTERS.get(code.co_name, code.co_name)
        name, last = known[1] or name, frame
        frame = frame.f_back
    return name if name != "MPI" else _class_of(last), frame


def _class_of(frame: FrameType | None) -> str:
    """The class whose method the program called, if the method has no public name: `Comm` for `Comm(5)`."""
    names = {} if frame is None else frame.f_locals
    owner = names.get("cls") or (type(names["self"]) if "self" in names else None)
    return owner.__name__ if isinstance(owner, type) else "MPI"


def library_call(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """The name of the call into the standard library, such as `Queue.get` (`acquire` if in C), and the program's frame.

    If no frame is the program's, as in a thread that waits for work, it is the innermost call inside the library.
    """
    name, below, inner = "acquire", None, None
    while frame is not None and (is_ours(frame) or is_library(frame)):
        if not is_ours(frame):
            below, inner = frame, inner or frame
        elif frame.f_code.co_name == "get":
            name = "SimpleQueue.get"
        frame = frame.f_back
    if frame is None:
        below, frame = inner, inner
    if below is not None:
        owner = below.f_locals.get("self")
        name = below.f_code.co_name if owner is None else f"{type(owner).__name__}.{below.f_code.co_name}"
    return name, frame


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the program from which a frame was called; that frame itself if there is none."""
    current = frame
    while current is not None and (is_ours(current) or is_library(current)):
        current = current.f_back
    return current or frame


def place_of(frame: FrameType | None) -> str:
    """A frame's file and line: `ring.py:14`."""
    if frame is None:
        return "?"
    code = frame.f_code
    known = _places.get(id(code))
    if known is None:
        known = _places[id(code)] = tie(_places, code), {}
    text = known[1].get(frame.f_lasti)
    if text is None:
        text = known[1][frame.f_lasti] = place_at(code.co_filename, frame.f_lineno or 0)
    return text


# -- the current public call -------------------------------------------------------------------------------------------


def public_call_name() -> str:
    """The name of the current public call."""
    return public_call(frame_at(1))[0]


def place_of_call() -> str:
    """The file and line of the program that made the current public call: `ring.py:14`."""
    return place_of(public_call(frame_at(1))[1])


def call_and_place() -> tuple[str, str]:
    """The name of the current public call, and the file and line of the program that made it."""
    call, frame = public_call(frame_at(1))
    return call, place_of(frame)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line of the program that made the call that runs now."""
    frame = public_call(frame_at(1))[1]
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    module, registry = frame.f_globals.get("__name__", "<string>"), frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


# -- requests ----------------------------------------------------------------------------------------------------------


class RequestSite:
    """A public call and its place, and the number of requests made there that the program has not completed yet.

    Programs make requests by the million, so a process has one object for each call site (`CallSites`).
    """

    __slots__ = ("call", "code", "instruction", "open", "place", "sends")

    def __init__(self, call: str, frame: FrameType | None) -> None:
        self.call, self.place = call, place_of(frame)
        self.code = None if frame is None else frame.f_code  # kept alive: the key of `CallSites` is its address
        self.instruction = 0 if frame is None else frame.f_lasti
        self.open = 0
        self.sends = 0  # how many operations that send were started there, if the run counts them

    def closed(self) -> RequestSite:
        """A copy without open requests, for a message whose request is complete."""
        other = object.__new__(RequestSite)
        other.call, other.place, other.code, other.instruction = self.call, self.place, self.code, self.instruction
        other.open = other.sends = 0
        return other


def new_call_site() -> RequestSite:
    """A new call site for the current public call."""
    return RequestSite(*public_call(frame_at(1)))


def request_site(call_sites: CallSites) -> CallSite:
    """The call site of a new request: the known one, or a new one.

    A public method that has its caller's frame looks in `call_sites` first: 0.3 us, where this function takes 1 us.
    """
    call, frame = public_call(frame_at(1))
    key = None if frame is None else (id(frame.f_code), frame.f_lasti)
    call_site = call_sites.get(key)
    if call_site is None:
        call_site = call_sites[key] = RequestSite(call, frame)
    return call_site
