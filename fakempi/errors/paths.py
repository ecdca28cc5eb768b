"""Paths in messages: short paths and lines of source files, and why a path is not a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from weakref import WeakValueDictionary

from fakempi.errors.similar import get_close_matches

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


class Place(str):
    """A line of a program as reports name it, `ring.py:14`, with the path of its file."""

    file: str
    line: int


_places: dict[str, WeakValueDictionary[str, Place]] = {}
"""Text of a place -> file -> the place, as long as something refers to it."""

_IN_TEXT = re.compile(r"[^\s:()',]+:\d+")


def place_at(file: str, line: int) -> Place:
    """Return a line of a file as text: `ring.py:14`."""
    text = f"{short_path(file)}:{line}"
    known = _places.setdefault(text, WeakValueDictionary())
    found = known.get(file)
    if found is None:
        found = known[file] = Place(text)
        found.file, found.line = file, line
    return found


def places_in(text: str) -> Iterator[list[Place]]:
    """Yield, for each place that a sentence names, the lines that it may mean: several if files have the same name."""
    for name in _IN_TEXT.findall(text):
        if found := list(_places.get(name, {}).values()):
            yield found


def with_paths(text: str, root: str, known: Iterable[str] = ()) -> str:
    """Replace the names of files in a sentence by paths relative to a directory, for files below it.

    A name that may mean several files remains, unless it is that of a line in `known`.
    """
    meant = {str(one): one.file for one in known if isinstance(one, Place)}

    def path(match: re.Match[str]) -> str:
        name, _, line = match[0].rpartition(":")
        files = [meant[match[0]]] if match[0] in meant else list(_places.get(match[0], ()))
        relative = os.path.relpath(files[0], root) if len(files) == 1 and os.path.isabs(files[0]) else os.pardir
        return match[0] if relative.startswith(os.pardir) or short_path(files[0]) != name else f"{relative}:{line}"

    return _IN_TEXT.sub(path, text)


def files_of_places() -> set[str]:
    """Return the files of all places."""
    return {file for places in list(_places.values()) for file in list(places)}


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
