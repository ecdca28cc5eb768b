"""The lines of the program that make calls: each is described to the parent once, and has a number from then on."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from fakempi.errors.call_names import call_name

OURS = ("fakempi", "collectives")
PROGRAMS = "fakempi.isolation.mpi4py.futures"
UTILITIES = "mpi4py.util"


class CallInstruction:
    """An instruction of the program that makes calls.

    Attributes
    ----------
    code : its code, which is kept, so that its id stays its own
    key, pack : the description of the last compact call, which the parent keeps, and a function that packs a call like it
    """

    __slots__ = ("code", "key", "number", "pack")

    def __init__(self, number: int, code: CodeType) -> None:
        self.number, self.code = number, code
        self.key: list[Any] | None = None
        self.pack: Any = None


Sites = dict[tuple[int, int], CallInstruction]
"""The instructions by code and offset."""


def call_site(sites: Sites, frame: FrameType | None) -> Any:
    """Return the instruction of the program that makes a call, and a description for the parent if it is new."""
    called = None  # a function of ours that the program has called, and that uses MPI: `time.sleep`, or one of mpi4py.util
    while frame is not None and is_ours(frame):
        called, frame = frame, frame.f_back
    if frame is None:
        return NO_SITE
    code = frame.f_code
    key = id(code), frame.f_lasti
    known = sites.get(key)
    if known is not None:
        return known
    number = len(sites) + 1
    sites[key] = CallInstruction(number, code)
    call, module = "" if called is None else call_name(called), frame.f_globals.get("__name__", "")
    return number, code.co_filename, frame.f_lineno, code.co_name, module, call, key


NO_SITE = CallInstruction(0, call_site.__code__)
"""Stands for the instruction if no function of the program is executed."""


def description(frame: FrameType | None) -> Any:
    """Return the description of the line of the program that makes a call, even if it is known; its number is -1."""
    found = call_site({}, frame)
    return (-1, *found[1:]) if type(found) is tuple else 0


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of fakempi or `collectives`."""
    module = frame.f_globals.get("__name__", "")
    return (module.partition(".")[0] in OURS and not module.startswith(PROGRAMS)) or module.startswith(UTILITIES)
