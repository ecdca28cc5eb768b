"""Commands that are Python programs: console scripts of installed packages, such as pytest, and executable scripts."""

from __future__ import annotations

import os
import re

_PYTHON = rb"^#!\s*(\S*/)?(env\s+(-S\s+)?(\S*/)?)?python[\d.]*(\s|$)"  # compiled on use, which takes 2 ms
_LONG = rb"^#!\s*\S*/sh\s*\n'''exec' .*python"
"""The first lines that pip writes if the path of the interpreter is too long for one line, or contains blanks."""

FIRST_BYTES = 1000


def console_script(command: str) -> str:
    """Return the path of a command, searched for as a shell does, if it is a Python program; empty otherwise."""
    import shutil  # takes 3 ms, and few runs need it

    path = shutil.which(command)
    if path is None and os.path.isfile(command):
        path = command  # mpiexec also accepts a path without a directory: work.py
    if path is None:
        return ""
    try:
        with open(path, "rb") as file:
            start = file.read(FIRST_BYTES)
    except OSError:
        return ""
    return path if re.match(_PYTHON, start) or re.match(_LONG, start) else ""
