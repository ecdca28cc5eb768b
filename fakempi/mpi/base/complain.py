"""Errors that say where they happened: the public call, the rank, then the sentence."""

from __future__ import annotations

import os
import sys
from operator import index
from types import CodeType, FrameType
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_NOT_SAME
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.current import current_name

_OURS = ("fakempi", "collectives")
_PROGRAMS = "fakempi.mpi4py.futures"
"""Of ours, what calls MPI as programs do: in its own time, from threads of its own. Its calls have names and lines."""

_AS_SCRIPTS_FIND_IT = "mpi4py.util"
"""Of ours, what has another name for scripts, and makes its calls for whoever calls it."""

_known: dict[str, bool] = {}
"""Names of modules that have been seen on a stack, and whether they are ours."""

_ours: dict[int, tuple[CodeType, str]] = {}
"""Code of ours by its address, since to hash it takes longer than all the rest; and its name, if that is a public one."""

_sites: dict[tuple[int, int], tuple[CodeType, str]] = {}
"""Places that have been named, those of collective calls each time, by the code's address and the instruction: to ask a
frame for its line takes four times as long as all the rest. The code is kept so that its address stays its own."""

_MOST = 4096  # code that is compiled anew again and again, as in a notebook, is not kept for ever


def complaint(code: int, sentence: str, kind: type[MPIError] = MPIError) -> MPIError:
    """An error to raise, prefixed by the call and the rank it happened on: `Send on rank 2: tag -5 is negative.`

    The call is read off the stack, which costs nothing until something is wrong.
    """
    (call, frame), name = public_call(sys._getframe(1)), current_name()
    error = kind(code, f"{call if name is None else f'{call} on {name}'}: {sentence}")
    error.place = None if frame is None else site_of(frame)
    return error


def integer(what: str, value: Any) -> int:
    """The integer that an argument stands for."""
    try:
        return index(value)
    except TypeError:
        raise complaint(ERR_ARG, f"{what} is {value!r}, not an integer.", MPITypeError) from None


def public_call(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """What the program called, and the frame of the program that called it: the first above all of ours."""
    name = "MPI"
    while frame is not None:
        code = frame.f_code
        known = _ours.get(id(code))
        if known is None:
            if not is_ours(frame):
                break
            known = _ours[id(code)] = code, "" if code.co_name[0] == "_" else code.co_name
        name = known[1] or name
        frame = frame.f_back
    return name, frame


def library_call(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """What the program called of the standard library, such as `Queue.get`, and the program's frame; `acquire` if of C.

    If there is no program, as in a thread that waits for work, it is what the library called.
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


def is_ours(frame: FrameType) -> bool:
    """Whether a frame is not the program's."""
    module = frame.f_globals.get("__name__", "")
    known = _known.get(module)
    if known is None:
        ours = module.partition(".")[0] in _OURS and not module.startswith(_PROGRAMS)
        known = _known[module] = ours or module.startswith(_AS_SCRIPTS_FIND_IT)
    return known


def is_library(frame: FrameType) -> bool:
    """Whether a frame is the standard library's; or pytest's where that loads modules, ours too, for it changes `assert`."""
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] in sys.stdlib_module_names or name == "_pytest.assertion.rewrite"


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that led to a frame; that frame itself if there is none."""
    found = frame
    while found is not None and (is_ours(found) or is_library(found)):
        found = found.f_back
    return found or frame


def public_call_name() -> str:
    """The name of what the program called."""
    return public_call(sys._getframe(1))[0]


def call_site() -> str:
    """The file and line of the program that led here: `ring.py:14`."""
    return site_of(public_call(sys._getframe(1))[1])


def site_of(frame: FrameType | None) -> str:
    """A frame's file and line."""
    if frame is None:
        return "?"
    code = frame.f_code
    known = _sites.get((id(code), frame.f_lasti))
    if known is None:
        if len(_sites) == _MOST:
            _sites.clear()
        site = f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
        known = _sites[id(code), frame.f_lasti] = code, site
    return known[1]


def out_of_step(
    plan: str, who: str | None, other_plan: str, other_site: str, what: str = "communicator"
) -> MPIError:
    """The complaint of a rank that calls one thing where another rank of its communicator called something else."""
    return complaint(
        ERR_NOT_SAME,
        f"this rank calls {plan} at {call_site()}, but {who} of the same {what} called {other_plan} at "
        f"{other_site}: collective calls must come in the same order everywhere.",
    )
