"""The lines of the program that make calls: each is described to the parent once, and has a number from then on."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any, TypeAlias

from fakempi.errors.call_names import call_name

OURS = ("fakempi", "collectives")
PROGRAMS = "fakempi.isolation.mpi4py.futures"
UTILITIES = "mpi4py.util"

Sites: TypeAlias = dict[tuple[int, int], tuple[int, CodeType]]
"""Numbers by code and instruction. The code is kept, so that its id stays its own."""


def call_site(sites: Sites, frame: FrameType | None) -> Any:
    """Return a number for the line of the program that makes a call, and a description if it is new."""
    called = None  # a function of ours that the program has called, and that uses MPI: `time.sleep`, or one of mpi4py.util
    while frame is not None and is_ours(frame):
        called, frame = frame, frame.f_back
    if frame is None:
        return 0
    code = frame.f_code
    key = id(code), frame.f_lasti
    known = sites.get(key)
    if known is not None:
        return known[0]
    number = len(sites) + 1
    sites[key] = number, code
    call, module = "" if called is None else call_name(called), frame.f_globals.get("__name__", "")
    return number, code.co_filename, frame.f_lineno, code.co_name, module, call, key


def description(frame: FrameType | None) -> Any:
    """Return the description of the line of the program that makes a call, even if it is known; its number is -1."""
    found = call_site({}, frame)
    return (-1, *found[1:]) if found else 0


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of fakempi or `collectives`."""
    module = frame.f_globals.get("__name__", "")
    return (module.partition(".")[0] in OURS and not module.startswith(PROGRAMS)) or module.startswith(UTILITIES)
