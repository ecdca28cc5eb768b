"""Make calls from the lines of the recorded program, so that traces and messages have its call sites.

The emulator takes the call site from the stack. For each recorded call site there is a function with its file and line, and
all calls from there are made through it. So a call that is repeated from the same site also costs what it does in a program:
the emulator prepares it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeAlias

Caller: TypeAlias = Callable[..., Any]
"""Calls its first argument with the others."""


def callers(sites: Sequence[str], source: str) -> list[Caller]:
    """Return a function for each call site; sites without a line have line 0, which reports show as unknown."""
    places = [_file_and_line(site or source) for site in sites]
    codes = (_template.__code__.replace(co_filename=file, co_firstlineno=line) for file, line in places)
    return [FunctionType(code, {"__name__": "recorded", "__builtins__": {}}) for code in codes]


def _file_and_line(site: str) -> tuple[str, int]:
    """Split a call site.

    >>> _file_and_line("src/work.py:17"), _file_and_line("0x4012ab")
    (('src/work.py', 17), ('0x4012ab', 0))
    """
    file, _, line = site.rpartition(":")
    is_line = file and line.isascii() and line.isdigit() and len(line) < 10  # a line number has 31 bits
    return (file, int(line)) if is_line else (site, 0)


_template = lambda call, *arguments: call(*arguments)  # noqa: E731  # the call has to be in the first line of the function
