"""Arguments of a call as the program has written them: `right` in `comm.Send(x, dest=right)`.

Reports show them next to their values, since a reader looks for `dest=right` in the program and not for `dest=3`. Nothing is
recorded during a run: when a report is made, the call is found in the source, by the position of its instruction (Python
3.11 and later), or else by its line and name if only one call there has that name.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType
from typing import Any, NamedTuple

MAX_LENGTH = 40
"""Longer expressions are not shown: a line of a report has more than these."""

MAX_SOURCE = 1_000_000
"""Number of characters: a longer file is not parsed."""

_METHODS = {
    "_ dest tag": "Send Ssend Bsend Rsend Isend Issend Ibsend Irsend Send_init Ssend_init Bsend_init Rsend_init "
    "send ssend bsend isend issend ibsend",
    "_ source tag": "Recv Irecv Recv_init recv irecv",
    "source tag": "Probe Iprobe Mprobe Improbe probe iprobe mprobe improbe",
    "_ dest sendtag _ source recvtag": "Sendrecv Isendrecv sendrecv",
    "_ dest sendtag source recvtag": "Sendrecv_replace Isendrecv_replace",
    "_ root": "bcast Bcast Ibcast Bcast_init gather scatter",
    "_ _ root": "Gather Gatherv Scatter Scatterv Igather Igatherv Iscatter Iscatterv "
    "Gather_init Gatherv_init Scatter_init Scatterv_init",
    "_ op root": "reduce",
    "_ _ op root": "Reduce Ireduce Reduce_init",
}
PARAMETERS = {name: parameters.split() for parameters, names in _METHODS.items() for name in names.split()}
"""Name of a method -> its parameters in order; `_` stands for one that reports do not show."""

Arguments = Mapping[str, str]
"""Parameter -> the expression that the program passes; without literals, wildcards and long expressions."""

Position = tuple[int, int, int, int]
"""First and last line, first and last column."""


class WrittenCall(NamedTuple):
    """A call in the source of a program."""

    name: str
    position: Position
    arguments: Arguments


def written_arguments(call: str, code: CodeType, instruction: int, line: int) -> Arguments:
    """Return the arguments of the call of a method by an instruction; empty if the call is not found in the source."""
    if call not in PARAMETERS:
        return {}
    named = [one for one in _calls_of("".join(linecache.getlines(code.co_filename))) if one.name == call]
    position = _position(code, instruction)
    found = [one for one in named if one.position == position]
    found = found or [one for one in named if one.position[0] <= line <= one.position[1]]
    return found[0].arguments if len(found) == 1 else {}


def _position(code: CodeType, instruction: int) -> Any:
    positions = getattr(code, "co_positions", None)  # new in Python 3.11
    return None if positions is None else next(islice(positions(), instruction // 2, None), None)


@lru_cache(maxsize=8)
def _calls_of(source: str) -> tuple[WrittenCall, ...]:
    """Return all calls of methods with known parameters in a program; all ranks of a run use the same few files."""
    if len(source) > MAX_SOURCE:
        return ()
    try:
        return tuple(_calls_in(source))
    except (SyntaxError, ValueError, RecursionError):  # it is no Python file, or its nesting is too deep
        return ()


def _calls_in(source: str) -> Iterator[WrittenCall]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARAMETERS:
            position = node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0
            yield WrittenCall(node.func.attr, position, dict(_arguments(source, node, PARAMETERS[node.func.attr])))


def _arguments(source: str, call: ast.Call, parameters: list[str]) -> Iterator[tuple[str, str]]:
    if any(isinstance(value, ast.Starred) for value in call.args):
        return
    pairs = [*zip(parameters, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
    for name, value in pairs:
        if name is not None and name in parameters and name != "_" and not _is_literal(value):
            text = " ".join((ast.get_source_segment(source, value) or "").split())
            if 0 < len(text) <= MAX_LENGTH:
                yield name, text


def _is_literal(value: ast.expr) -> bool:
    """Return whether the report says the same as the program: a number, or a wildcard, which is shown as ANY."""
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    name = getattr(value, "attr", getattr(value, "id", ""))
    return isinstance(value, ast.Constant) or name in ("ANY_SOURCE", "ANY_TAG", "PROC_NULL")
