"""A buffer that is used before its request is complete.

Until `Wait` returns, a receive buffer has no defined contents, and a send buffer must not change: the message may be read
from it later.

Wrong:

    import numpy as np
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    x, other = np.ones(3), (comm.rank + 1) % comm.size
    request = comm.Isend(x, dest=other)
    x[0] = 2  # FM302
    comm.Recv(np.empty(3))
    request.Wait()

Right:

    import numpy as np
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    x, other = np.ones(3), (comm.rank + 1) % comm.size
    request = comm.Isend(x, dest=other)
    comm.Recv(np.empty(3))
    request.Wait()
    x[0] = 2

Fix: wait for the request first, or use another buffer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fakempi.apps.lint.analysis.events import MpiCall
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules.scopes import blocks, names_loaded, scopes

CODE = "FM302"
TITLE = "a buffer that is used before its request is complete"
FIX = "wait for the request first, or use another buffer"
SENDS = {"Isend", "Issend", "Ibsend", "Irsend"}
INTO = {"Irecv": 0, "Iallreduce": 1, "Iallgather": 1, "Ialltoall": 1, "Igather": 1, "Ireduce": 1, "Iscatter": 1, "Iscan": 1}
"""Nonblocking calls that write, and the position of the buffer."""
DESCRIPTIONS = {"shape", "dtype", "size", "nbytes", "ndim", "itemsize", "strides", "flags"}
CHANGING = {"fill", "sort", "resize", "partition", "put"}
FILLING = {"Recv": 0, "Irecv": 0, "Bcast": 0, "Allreduce": 1, "Reduce": 1}


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    if not any(call.operation in SENDS or call.operation in INTO for call in analysis.calls.values()):
        return
    for scope in scopes(analysis.tree):
        for block in blocks(scope):
            for position, statement in enumerate(block):
                call, request = _started(statement, analysis)
                if call is not None and request:
                    yield from _uses(call, request, block[position + 1 :], analysis)


def _started(statement: ast.stmt, analysis: FileAnalysis) -> tuple[MpiCall | None, str]:
    """Return the nonblocking call of a statement, and the name of its request or of the list of requests."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        value, name = statement.value, statement.targets[0].id
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.args:
        function = statement.value.func
        if not (isinstance(function, ast.Attribute) and function.attr == "append" and isinstance(function.value, ast.Name)):
            return None, ""
        value, name = statement.value.args[0], function.value.id
    else:
        return None, ""
    call = analysis.calls.get(value) if isinstance(value, ast.Call) else None
    return (call, name) if call is not None and (call.operation in SENDS or call.operation in INTO) else (None, "")


def _buffer(node: ast.expr | None) -> str:
    """Return the name of the array that a buffer argument is, or an empty text for a part of an array."""
    while isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        node = node.elts[0]
    return node.id if isinstance(node, ast.Name) else ""


def _uses(call: MpiCall, request: str, rest: list[ast.stmt], analysis: FileAnalysis) -> Iterator[LintFinding]:
    sends = call.operation in SENDS
    place = 0 if sends else INTO[call.operation]
    node, _ = call.argument(place, "recvbuf" if place else "buf")
    name = _buffer(node)
    if not name:
        return
    for statement in rest:
        if request in names_loaded(statement) or _may_wait(statement):
            return
        found = _change(statement, name, analysis) or (None if sends else _read(statement, name, analysis))
        if found is not None:
            verb = "changed" if sends else "used"
            yield finding(
                CODE, found,
                f"{name} is {verb} before the request of {call.operation} (line {call.node.lineno}) is complete", (), FIX,
            )  # fmt: skip
            return
        if _rebinds(statement, name) or isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return


def _may_wait(statement: ast.stmt) -> bool:
    """Return whether a statement may complete requests that it does not name, or defines a function that runs later."""
    names = {each.attr.lower() for each in ast.walk(statement) if isinstance(each, ast.Attribute)}
    return any(name.startswith(("wait", "test")) for name in names) or isinstance(statement, (ast.FunctionDef, ast.ClassDef))


def _rebinds(statement: ast.stmt, name: str) -> bool:
    return any(_is(each, name) and isinstance(getattr(each, "ctx", None), ast.Store) for each in ast.walk(statement))


def _change(statement: ast.stmt, name: str, analysis: FileAnalysis) -> ast.AST | None:
    """Return the node that changes the elements of an array."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is(node.value, name):
            return node
        if isinstance(node, ast.AugAssign) and _is(node.target, name):
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if _is(node.func.value, name) and node.func.attr in CHANGING:
                return node
            known = analysis.calls.get(node)
            place = FILLING.get(known.operation) if known is not None else None
            if place is not None and len(node.args) > place and _buffer(node.args[place]) == name:
                return node
    return None


def _read(statement: ast.stmt, name: str, analysis: FileAnalysis) -> ast.AST | None:
    """Return the node that reads the elements of an array, in other calls than those of MPI."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and (node in analysis.calls or _is(node.func, "len", "id", "type", "isinstance")):
            continue
        if isinstance(node, ast.Attribute) and _is(node.value, name) and node.attr in DESCRIPTIONS:
            continue
        if _is(node, name) and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return node
        if not isinstance(node, (ast.List, ast.Tuple)):  # the array itself in a container, such as a list of buffers
            pending += ast.iter_child_nodes(node)
    return None


def _is(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names
