"""The stacks of all threads of a process, as plain values for the report."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

DEEPEST = 60
"""The number of frames of a thread that are reported, innermost first."""


def threads(current: dict[int, FrameType], main: int, agent: int, calls: Any) -> list[dict[str, Any]]:
    """Return the main thread first, then the others, except for the agent's."""
    module = sys.modules.get("threading")
    names = {ident: thread.name for ident, thread in getattr(module, "_active", {}).items()}
    found = []
    for ident in sorted(current, key=lambda each: each != main):
        if ident != agent:
            found.append({"name": names.get(ident, f"thread {ident}"), "main": ident == main, "id": ident,
                          "frames": frames(current[ident], calls)})  # fmt: skip
    return found


def frames(frame: FrameType | None, calls: Any) -> list[dict[str, Any]]:
    """Return file, line, function and call of each frame, innermost first."""
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < DEEPEST:
        code = frame.f_code
        record = {"file": code.co_filename, "line": frame.f_lineno or 0, "function": code.co_name}
        record["own"] = is_own(code.co_filename)
        if len(found) < 12:
            try:
                record["call"] = calls.describe(frame)
            except Exception as error:
                record["error"] = repr(error)  # the report has the line
        found.append(record)
        frame = frame.f_back
    return found


def is_own(file: str) -> bool:
    """Return whether a file belongs to the program, and not to the standard library or to an installed package."""
    if file.startswith("<"):
        return False
    stdlib = (sys.prefix, sys.base_prefix)
    if "site-packages" in file or "dist-packages" in file:
        return False
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return not (file.startswith(stdlib) and version in file)


def raised(error: BaseException) -> dict[str, Any]:
    """Return the exception that ended the program: its text, its line, and its traceback."""
    import traceback

    lines = traceback.format_exception(type(error), error, error.__traceback__)
    steps = [(step.filename, step.lineno or 0) for step in traceback.extract_tb(error.__traceback__)]
    own = [step for step in steps if is_own(step[0])] or steps or [("?", 0)]
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    return {"raised": text[:500], "file": own[-1][0], "line": own[-1][1], "traceback": "".join(lines)[-8000:]}
