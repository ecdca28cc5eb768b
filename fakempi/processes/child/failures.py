"""The description of an exception of a child, for the parent."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

from fakempi.errors.tracebacks import printed, shorten


def record(error: BaseException, depth: int = 8, uncaught: bool = False) -> dict[str, Any]:
    """Return a description of an exception: class, text, traceback, causes, and its pickle if the parent can load it.

    If no function of the program caught it, also what Python prints for it.
    """
    shorten(error)
    kind = type(error)
    frames = [
        (frame.f_code.co_filename, line, frame.f_code.co_name, frame.f_globals.get("__name__", ""))
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    try:
        text = str(error)
    except Exception:
        text = "<exception str() failed>"
    found: dict[str, Any] = {
        "name": kind.__qualname__, "module": kind.__module__, "text": text, "frames": frames, "pickle": None,
        "notes": [str(note) for note in getattr(error, "__notes__", ())], "suppress": error.__suppress_context__,
        "cause": None, "context": None, "number": getattr(error, "parent_number", None),
        "printed": printed(error) if uncaught else None,
    }  # fmt: skip
    if kind.__module__ in ("builtins", "fakempi.errors", "fakempi.processes.child.channel"):
        try:
            found["pickle"] = pickle.dumps(error)
        except Exception:
            found["pickle"] = None
    if depth:
        found["cause"] = None if error.__cause__ is None else record(error.__cause__, depth - 1)
        found["context"] = None if error.__context__ is None else record(error.__context__, depth - 1)
    return found
