"""A failure of a cell: as lines, and as a table of ranks whose entries are links to the lines of the cell."""

from __future__ import annotations

import linecache
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from html import escape
from itertools import count
from typing import Any

from fakempi.apps.notebook.cell import FILE
from fakempi.apps.notebook.line import USAGE
from fakempi.core.reports.explain import explained_by
from fakempi.errors import RankError, RunError

OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
STATE = re.compile(r"  (?P<ranks>ranks? [^:]*): (?P<call>.*) at (?P<place>\S+:\d+)(?P<rest>.*)")
"""A line of a report of blocked ranks."""
NUMBERS = count(1)
"""Numbers of the tables of a notebook: names of their lines are different."""


def lines_of(error: Exception, cell: str, variables: Mapping[str, Any]) -> list[str]:
    """Return the report of a deadlock, the lines of the program of a failed rank, or a usage error and the usage."""
    if isinstance(error, SyntaxError):
        return "".join(traceback.format_exception_only(error)).splitlines()
    if not isinstance(error, RunError):
        return [str(error), f"usage: {USAGE}"]
    command = explained_by(error)
    how = [f"for details, run: !{command}"] if command else []
    if not isinstance(error, RankError):
        return [*str(error).splitlines(), *how]
    cause = error.exception
    lines = [f"{error.name} failed with {''.join(traceback.format_exception_only(cause)).strip()}"]
    lines += [f"  {place}: {code}" for place, code in _frames(cause, cell)]
    if isinstance(cause, NameError) and cause.name in ("MPI", "comm"):
        start = "from mpi4py import MPI; comm = MPI.COMM_WORLD"
        lines.append(f"a cell is a separate program: start it with {start}, or use --keep")
    elif isinstance(cause, NameError) and cause.name in variables:
        lines.append(f"{cause.name} is a variable of the notebook: --push {cause.name} gives each rank a copy")
    return [*lines, *error.other_failures(), *how]


def _frames(error: BaseException, cell: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the code of each frame of the program, the innermost last."""
    code = cell.splitlines()
    for frame in traceback.extract_tb(error.__traceback__):
        number = frame.lineno or 0
        if os.path.basename(frame.filename) == FILE and 0 < number <= len(code):
            yield f"{FILE}:{number}", code[number - 1].strip()
        elif not os.path.abspath(frame.filename).startswith(OURS) and not frame.filename.startswith("<"):
            yield f"{os.path.basename(frame.filename)}:{number}", linecache.getline(frame.filename, number).strip()


def rows_of(error: RunError, cell: str) -> list[tuple[str, str, str]]:
    """Return what each failed or blocked rank does, as the report says it: ranks, call or exception, place."""
    rows = [STATE.fullmatch(line) for line in str(error).splitlines()] if not isinstance(error, RankError) else []
    found = [(match["ranks"], match["call"] + match["rest"], match["place"]) for match in rows if match]
    if isinstance(error, RankError):
        for rank, cause in [(error.rank, error.exception), *error.others]:
            *_, (place, _) = [("", ""), *_frames(cause, cell)]
            found.append((f"rank {rank}", f"{type(cause).__name__}: {cause}", place))
    return found


def table_of(error: RunError, cell: str) -> str:
    """Return the failure as HTML: a table whose places are links to the lines of the cell, which follow it."""
    rows = rows_of(error, cell)
    if not rows:
        return ""
    table, marked = f"fakempi-{next(NUMBERS)}", set[int]()

    def linked(place: str) -> str:
        match = re.fullmatch(rf"(?:.*/)?{re.escape(FILE)}:(\d+)", place)
        if match is None:
            return escape(place)
        marked.add(int(match[1]))
        return f'<a href="#{table}-{match[1]}">line {match[1]}</a>'

    left = "style='text-align:left'"
    body = "".join(
        f"<tr><td {left}>{escape(who)}</td><td {left}><code>{escape(what)}</code></td><td {left}>{linked(where)}</td></tr>"
        for who, what, where in rows
    )
    code = "\n".join(
        f'<span id="{table}-{number}"{" style=font-weight:bold" if number in marked else ""}>'
        f"{'&gt;' if number in marked else ' '}{number:4} {escape(line)}</span>"
        for number, line in enumerate(cell.splitlines(), 1)
    )
    head = "".join(f"<th {left}>{title}</th>" for title in ("ranks", "call", "where"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><pre>{code}</pre>"
