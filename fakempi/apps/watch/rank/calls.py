"""The call that a frame executes: its function, and the values of its arguments, from the source and the variables.

From Python 3.11 on, an instruction has a position in the source; on 3.10, the line is all that is known, and the record says
so. Values are computed from names, attributes, integers and arithmetic. No function of the program is called: an attribute
that is a property, and a value that is no number, text or truth value, is unknown.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import operator
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, MemberDescriptorType, ModuleType
from typing import Any

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip

MPI4PY = "mpi4py.MPI"

COMMUNICATORS = ("Comm", "Intracomm", "Intercomm", "Topocomm", "Cartcomm", "Graphcomm", "Distgraphcomm")


class UnknownValueError(Exception):
    """The value of an expression cannot be found without calling a function."""


def module_of_call(frame: FrameType) -> str:
    """Return the package of the function that a frame calls, without any call of MPI: each sample may need it."""
    tree = _parsed(frame.f_code.co_filename, frame.f_globals)
    found = _node(tree, _position(frame), frame.f_lineno or 0) if tree is not None else None
    return str(_function(found.func, frame, False).get("module", "")) if isinstance(found, ast.Call) else ""


def describe(frame: FrameType) -> dict[str, Any] | None:
    """Return the call that a frame executes; None if the source has none at this place."""
    tree = _parsed(frame.f_code.co_filename, frame.f_globals)
    if tree is None:
        return None
    position = _position(frame)
    found = _node(tree, position, frame.f_lineno or 0)
    if found is None:
        return None
    several = position is None and _calls_at(tree, frame.f_lineno or 0) != [found]
    record: dict[str, Any] = {"text": _text(found), "one_of": several}
    if isinstance(found, ast.Call):
        record.update(_function(found.func, frame), arguments=_arguments(found, frame))
        if record.get("comm"):
            record["message"] = _arrived(record, found, frame)
        if record.get("class") in ("Request", "Prequest", "Grequest") or record["name"] in ("wait", "Wait"):
            record["made"] = _made(found, frame, tree)
    return record


# -- places --------------------------------------------------------------------------------------------------------------

_trees: dict[str, ast.Module | None] = {}


def _parsed(file: str, variables: dict[str, Any]) -> ast.Module | None:
    if file not in _trees:
        lines = linecache.getlines(file, variables)
        try:
            _trees[file] = ast.parse("".join(lines)) if lines else None
        except SyntaxError:
            _trees[file] = None
    return _trees[file]


def _position(frame: FrameType) -> tuple[int, int, int, int] | None:
    """Return line, last line, column and last column of the current instruction; None on Python 3.10."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for index, found in enumerate(positions()):
        if 2 * index == frame.f_lasti:
            return None if None in found else found
    return None


def _node(tree: ast.Module, position: tuple[int, int, int, int] | None, line: int) -> ast.expr | None:
    if position is not None:
        for each in ast.walk(tree):
            if isinstance(each, ast.expr) and position == _span(each):
                return each
        return None
    return min(_calls_at(tree, line), key=lambda each: (each.end_lineno or 0) - each.lineno, default=None)


def _calls_at(tree: ast.Module, line: int) -> list[ast.Call]:
    return [each for each in ast.walk(tree) if isinstance(each, ast.Call) and each.lineno <= line <= (each.end_lineno or 0)]


def _span(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _text(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 120 else f"{text[:117]}..."


# -- functions and values ------------------------------------------------------------------------------------------------


def _function(node: ast.expr, frame: FrameType, members: bool = True) -> dict[str, Any]:
    """Return the name of the called function, its package, and the communicator or other object that it belongs to."""
    record: dict[str, Any] = {"function": _text(node), "name": node.attr if isinstance(node, ast.Attribute) else _text(node)}
    if isinstance(node, ast.Attribute):
        try:
            target = value(node.value, frame)
        except UnknownValueError:
            return record
        kind = target if isinstance(target, type) else type(target)
        base = next((each for each in kind.__mro__ if each.__module__ == MPI4PY), None)
        record.update(module=(base or kind).__module__, **{"class": (base or kind).__name__})
        if isinstance(target, ModuleType):
            record["module"] = target.__name__
        if members and base is not None and base.__name__ in COMMUNICATORS:
            record["comm"] = communicator(target)
        if base is None and kind.__module__ in ("_thread", "threading"):
            record["lock"] = hex(id(target))
    else:
        try:
            target = value(node, frame)
            record["module"] = str(getattr(type(target), "__module__", ""))
            if type(target).__name__ in ("builtin_function_or_method", "function"):
                record["module"] = str(target.__module__)
        except UnknownValueError:
            pass
    return record


def communicator(comm: Any) -> dict[str, Any]:
    """Return size and members of a communicator, by calls of MPI that are local."""
    return in_thread(lambda: _members(comm))


def in_thread(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a function finds within a second, in a thread that may wait for a lock of MPI."""
    import _thread

    found: dict[str, Any] = {}
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            found.update(look())
        except Exception as error:
            found["error"] = repr(error)
        done.release()

    _thread.start_new_thread(run, ())
    done.acquire(timeout=1)
    return dict(found)


def _members(comm: Any) -> dict[str, Any]:
    import sys

    mpi = sys.modules[MPI4PY]
    if not mpi.Is_initialized() or mpi.Is_finalized() or mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        return {"error": "MPI does not allow calls from another thread (THREAD_MULTIPLE)"}
    world = mpi.COMM_WORLD.Get_group()

    def in_world(group: Any) -> list[int | None]:
        ranks = mpi.Group.Translate_ranks(group, list(range(group.Get_size())), world)
        return [None if rank == mpi.UNDEFINED else rank for rank in ranks]

    found = {
        "any": [mpi.ANY_SOURCE, mpi.ANY_TAG], "null": mpi.PROC_NULL, "rank": comm.Get_rank(), "size": comm.Get_size(),
        "group": in_world(comm.Get_group()),
    }  # fmt: skip
    if comm.Is_inter():
        found["remote"] = in_world(comm.Get_remote_group())
    return found


def _arrived(record: dict[str, Any], call: ast.Call, frame: FrameType) -> dict[str, Any] | None:
    """Return source and tag of a message that has arrived and matches a receive's source or its tag, but not both.

    MPI_Iprobe looks, and takes nothing. Without a blocking receive, or where MPI allows no calls from this thread: None.
    """
    first = {"recv": 1, "probe": 0, "mprobe": 0}.get(record["name"].lower())
    if first is None or "error" in record["comm"] or not isinstance(call.func, ast.Attribute):
        return None
    wanted: dict[str, Any] = {}
    for name, position in (("source", first), ("tag", first + 1)):
        positional = [each for each in record["arguments"] if each["keyword"] is None][position : position + 1]
        given = [each for each in record["arguments"] if each["keyword"] == name] + positional
        if given:
            wanted[name] = given[0].get("value")
    if not all(isinstance(each, int) for each in wanted.values()):
        return None
    comm = value(call.func.value, frame)
    return in_thread(lambda: _probe(comm, wanted)) or None


def _probe(comm: Any, wanted: dict[str, int]) -> dict[str, Any]:
    import sys

    mpi = sys.modules[MPI4PY]
    for name in wanted:  # without this condition, and with the other
        status = mpi.Status()
        if comm.Iprobe(**{key: each for key, each in wanted.items() if key != name}, status=status):
            return {"source": status.Get_source(), "tag": status.Get_tag()}
    return {}


def _arguments(call: ast.Call, frame: FrameType) -> list[dict[str, Any]]:
    positional = [_argument(each, None, frame) for each in call.args]
    return positional + [_argument(each.value, each.arg, frame) for each in call.keywords]


def _argument(node: ast.expr, keyword: str | None, frame: FrameType) -> dict[str, Any]:
    record: dict[str, Any] = {"keyword": keyword, "text": _text(node)}
    with suppress(UnknownValueError):
        record["value"] = plain(value(node, frame))
    return record


def plain(found: Any) -> Any:
    """Return a number, a text or a truth value; everything else is unknown to the report."""
    if isinstance(found, bool | int | float | str | type(None)):
        return found if not isinstance(found, str) else found[:100]
    if type(found).__module__ == "numpy" and type(found).__name__.startswith(("int", "uint")):
        return operator.index(found)
    raise UnknownValueError


def value(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an expression of names, attributes, integers and arithmetic."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
            if node.id in scope:
                return scope[node.id]
    if isinstance(node, ast.Attribute):
        return _attribute(value(node.value, frame), node.attr)
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_integer(node.operand, frame))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        try:
            return OPERATORS[type(node.op)](_integer(node.left, frame), _integer(node.right, frame))
        except ZeroDivisionError:
            raise UnknownValueError from None
    raise UnknownValueError


def _integer(node: ast.expr, frame: FrameType) -> int:
    found = plain(value(node, frame))
    if isinstance(found, int) and abs(found) < 2**63:
        return found
    raise UnknownValueError


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute without calling a property or `__getattr__` of the program."""
    if isinstance(owner, ModuleType):
        if name in vars(owner):
            return vars(owner)[name]
        raise UnknownValueError
    if type(owner).__module__ == MPI4PY and name in ("rank", "size", "remote_size"):
        return getattr(owner, name)  # properties of mpi4py, which are local
    from inspect import getattr_static

    found = getattr_static(owner, name, UnknownValueError)
    if isinstance(found, MemberDescriptorType):
        return found.__get__(owner)  # of __slots__
    if found is UnknownValueError or (hasattr(type(found), "__get__") and not isinstance(owner, type)):
        raise UnknownValueError
    return found


# -- requests --------------------------------------------------------------------------------------------------------------


def _made(call: ast.Call, frame: FrameType, tree: ast.Module) -> dict[str, Any] | None:
    """Return the call that made the awaited request: the last assignment to its variable above this line, in the source."""
    target = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        source: ast.Call | None = target  # comm.isend(...).wait()
    elif isinstance(target, ast.Name):
        source = _assigned(target.id, call.lineno, tree)
    else:
        source = None
    if source is None:
        return None
    called = _function(source.func, frame)
    return {"text": _text(source), "line": source.lineno, **called, "arguments": _arguments(source, frame)}


def _assigned(name: str, line: int, tree: ast.Module) -> ast.Call | None:
    found = [
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
        and each.lineno < line
        and isinstance(each.value, ast.Call)
        and any(isinstance(target, ast.Name) and target.id == name for target in each.targets)
    ]
    return max(found, key=lambda each: each.lineno, default=None)
