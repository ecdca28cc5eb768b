"""Paths in messages: short paths of source files, and why a path is not a file."""

from __future__ import annotations

import os
from contextlib import suppress
from difflib import get_close_matches

AMBIGUOUS = frozenset({"__init__.py", "__main__.py"})
"""File names that many packages have."""


def short_path(file: str) -> str:
    """Return the name of a file, such as `ring.py`; for `__init__.py` and `__main__.py`, which many packages have, a path.

    The path is relative to the working directory if the file is below it. Otherwise it has two parts: directory and file.

    >>> short_path("/home/me/ring.py"), short_path("/somewhere/package/__init__.py")
    ('ring.py', 'package/__init__.py')
    """
    directory, name = os.path.split(file)
    if name not in AMBIGUOUS or not directory:
        return name
    relative = os.path.relpath(file) if os.path.isabs(file) else file
    return os.path.join(os.path.basename(directory), name) if relative.startswith(os.pardir) else relative


def missing_file(path: str, hint: str = "") -> str:
    """Return a sentence on a path that is not a file: a directory, or a name that is similar to that of another file."""
    if os.path.isdir(path):
        return f"{path!r} is a directory, not a file."
    directory, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    with suppress(OSError):
        names = [os.path.splitext(each) for each in sorted(os.listdir(directory or os.curdir))]
        for close in get_close_matches(stem, [one for one, its in names if its == suffix != ""], n=1):
            return f"there is no file {path!r}; did you mean {os.path.join(directory, close + suffix)}?"
    return f"there is no file {path!r}. {hint}".rstrip()
