"""The lines of the program that make calls: each is described to the parent once, and has a number from then on."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from fakempi.errors.call_names import call_name

OURS = ("fakempi", "collectives")
PROGRAMS = "fakempi.isolation.mpi4py.futures"
UTILITIES = "mpi4py.util"


class Sites(dict[tuple[int, int], int]):
    """The numbers of instructions of the program that make calls, by code and offset."""

    def __init__(self) -> None:
        self.codes: list[CodeType] = []  # kept, so that the id of each stays its own


def call_site(sites: Sites, frame: FrameType | None) -> Any:
    """Return the number of the instruction of the program that makes a call; if it is new, a description for the parent."""
    called = None  # a function of ours that the program has called, and that uses MPI: `time.sleep`, or one of mpi4py.util
    while frame is not None and is_ours(frame):
        called, frame = frame, frame.f_back
    if frame is None:
        return 0
    code = frame.f_code
    key = id(code), frame.f_lasti
    known = sites.get(key)
    if known is not None:
        return known
    sites.codes.append(code)
    number = sites[key] = len(sites.codes)
    call, module = "" if called is None else call_name(called), frame.f_globals.get("__name__", "")
    return number, code.co_filename, frame.f_lineno, code.co_name, module, call, key


def description(frame: FrameType | None) -> Any:
    """Return the description of the line of the program that makes a call, even if it is known; its number is -1."""
    found = call_site(Sites(), frame)
    return (-1, *found[1:]) if type(found) is tuple else 0


def is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of fakempi or `collectives`."""
    module = frame.f_globals.get("__name__", "")
    return (module.partition(".")[0] in OURS and not module.startswith(PROGRAMS)) or module.startswith(UTILITIES)
