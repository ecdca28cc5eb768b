"""Detects from its source whether a module stores an object of mpi4py, such as a communicator or a rank number.

A module that imports mpi4py at module level does. A function that imports mpi4py does if it also changes its module: a
global name, an item or attribute of a global object, a function or a class, or its own cache.
A function that only uses MPI does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

CHANGING = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
"""Methods that put something into a container."""


def binds_mpi4py(text: bytes) -> bool:
    """Return whether a module with this source stores an object of mpi4py; False if Python cannot parse the source."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    names = _global_names(tree)
    pending: list[tuple[ast.AST, Function | None]] = [(tree, None)]  # (node, outermost enclosing function)
    while pending:
        node, function = pending.pop()
        if _imports_mpi4py(node) and (function is None or _stores_in_module(function, names)):
            return True
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            pending += ((child, function) for child in node.orelse)
        else:
            inner = node if function is None and isinstance(node, _FUNCTIONS) else function
            pending += ((child, inner) for child in ast.iter_child_nodes(node))
    return False


def _imports_mpi4py(node: ast.AST) -> bool:
    """Return whether a node imports mpi4py, by a statement or by a call such as `import_module("mpi4py.MPI")`."""
    if isinstance(node, ast.Import):
        names: list[object] = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module] if not node.level else []
    elif isinstance(node, ast.Call) and "import" in _last_name(node.func):
        names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    else:
        return False
    return any(isinstance(name, str) and name.partition(".")[0] == "mpi4py" for name in names)


def _last_name(node: ast.AST) -> str:
    """Return `f` for `f` and for `module.f`."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _global_names(tree: ast.Module) -> set[str]:
    """Return the global names that a module assigns, its functions and its classes, without imported modules."""
    defined = {node.name for node in _executed(tree) if isinstance(node, _DEFINITIONS)}
    return defined | {
        name.id
        for statement in _executed(tree)
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes at module level, without what is in functions and classes."""
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from _executed(child)


def _stores_in_module(function: Function, names: set[str]) -> bool:
    """Return whether a function changes its module or caches its results."""
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    if any("cache" in ast.unparse(decorator) for decorator in decorators):
        return True
    return any(_changes_module(node, names) for node in ast.walk(function))


def _changes_module(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Global):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING and _root(node.func) in names
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
        return _root(node) in {*names, "cls"}
    return False


def _root(node: ast.AST) -> str:
    """Return `a` for `a.b[c].d`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
