"""The user's lines that reports name as `file.py:12`: their paths, and the code around them."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterable

from fakempi.errors.paths import short_path

CONTEXT = 3
"""Number of lines shown above the line itself."""
MAX_PLACES = 3
"""Maximum number of places shown. Blocked ranks are usually at few places."""


def file_and_line(place: str, test: str) -> tuple[str, int] | None:
    """Return the path and the line of a place such as `test_it.py:12`, or None if no file or several files have the name.

    `test` is the path of the test. The other candidates are the modules that are loaded.
    """
    name, _, line = place.rpartition(":")
    if not name or not line.isdecimal():
        return None
    files = {test, *(file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None)))}
    found = [file for file in files if isinstance(file, str) and file.endswith(".py") and short_path(file) == name]
    if len(found) > 1 and test in found:
        found = [test] if linecache.getline(test, int(line)).strip() else []
    return (found[0], int(line)) if len(found) == 1 else None


def code_at(places: Iterable[str], test: str) -> str:
    """Return the code at these places as in a traceback of pytest, each place once, at most `MAX_PLACES`."""
    parts = []
    for place in list(dict.fromkeys(places))[:MAX_PLACES]:
        found = file_and_line(place, test)
        if found is None:
            continue
        file, line = found
        code = [(number, linecache.getline(file, number).rstrip()) for number in range(max(line - CONTEXT, 1), line + 1)]
        if code[-1][1]:
            marked = (f"{'>' if number == line else ' '}   {text}" for number, text in code)
            parts.append("\n".join([f"{_relative(file)}:{line}:", *marked]))
    return "\n\n".join(parts)


def _relative(file: str) -> str:
    """Return a path relative to the working directory, as pytest shows it in tracebacks, if the file is below it."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative
