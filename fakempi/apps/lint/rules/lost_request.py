"""A request that is never completed.

A nonblocking call returns a request. Without `wait` or a successful `test`, the program does not know when the operation
has ended; the buffer or the pickled object may be freed while it is transferred, and the message may never be sent.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        comm.isend("text", dest=1)  # FM301
    elif comm.rank == 1:
        comm.recv(source=0)

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        request = comm.isend("text", dest=1)
        request.wait()
    elif comm.rank == 1:
        comm.recv(source=0)

Fix: keep the request, and call `wait` on it, or `MPI.Request.Waitall` on a list of requests; or use the blocking call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fakempi.apps.lint.analysis import mpi_calls
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules.scopes import Scope, names_loaded, own_nodes, parents, scopes

CODE = "FM301"
TITLE = "a request that is never completed"
FIX = "keep the request and wait for it, or use the blocking call"
ADDING = ("append", "extend", "add")


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    pending = {node: call for node, call in analysis.calls.items() if call.operation in mpi_calls.NONBLOCKING}
    if not pending:
        return
    for scope in scopes(analysis.tree):
        inside = [node for node in own_nodes(scope) if node in pending]
        if inside:
            above = parents(scope)
            for node in inside:
                assert isinstance(node, ast.Call)
                reason = _lost(node, above, scope)
                if reason:
                    yield finding(CODE, node, f"the request of {pending[node].operation} {reason}", (), FIX)


def _lost(node: ast.AST, above: dict[ast.AST, ast.AST], scope: Scope) -> str:
    """Return why a request is never completed, or an empty text."""
    parent = above[node]
    while isinstance(parent, (ast.ListComp, ast.List, ast.IfExp)):
        node, parent = parent, above[parent]
    if isinstance(parent, ast.Expr):
        return "is discarded, so that no rank waits for it"
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        if _is_local(name, scope) and name not in names_loaded(scope):
            return f"is assigned to {name}, which is never used, so that no rank waits for it"
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in ADDING:
        base = parent.func.value
        if isinstance(base, ast.Name) and isinstance(above[parent], ast.Expr) and _only_filled(base.id, scope):
            return f"is added to {base.id}, which is never used, so that no rank waits for it"
    return ""


def _is_local(name: str, scope: Scope) -> bool:
    return not any(isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names for each in ast.walk(scope))


def _only_filled(name: str, scope: Scope) -> bool:
    """Return whether a list is created here and only filled."""
    if not _is_local(name, scope):
        return False
    names = [each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id == name]
    inside = set(own_nodes(scope))
    created = any(isinstance(each.ctx, ast.Store) and each in inside for each in names)
    filled = {
        each.func.value for each in ast.walk(scope)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in ADDING
    }  # fmt: skip
    return created and all(each in filled for each in names if isinstance(each.ctx, ast.Load))
