"""Functions as lists of statements: the parents of nodes, and the uses of names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def scopes(tree: ast.Module) -> Iterator[Scope]:
    """Yield the module and all functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of functions inside."""
    pending: list[ast.AST] = list(scope.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            pending += ast.iter_child_nodes(node)


def parents(scope: Scope) -> dict[ast.AST, ast.AST]:
    """Return the parent of each node of a scope."""
    return {child: node for node in [scope, *own_nodes(scope)] for child in ast.iter_child_nodes(node)}


def blocks(scope: Scope) -> Iterator[list[ast.stmt]]:
    """Yield all lists of statements of a scope."""
    yield scope.body
    for node in own_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            part = getattr(node, name, None)
            if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                yield part


def names_loaded(node: ast.AST) -> set[str]:
    """Return the names that are read in a node, also in functions inside."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
