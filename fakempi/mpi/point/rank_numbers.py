"""Report -1 as the rank of a message if the program has computed it or written it as a number.

With MPICH -1 is PROC_NULL, so nothing is sent or received. With Open MPI it is ANY_SOURCE for a receive, and an error for a
send. MPI.PROC_NULL is an ordinary integer, so its value does not show where it comes from: the source of the call does.
There is a report only if the argument is a negative number as text, or a difference of numbers that are not negative, at the
call or where its variable is assigned, once. In all other cases the number may come from the constant.

Only the first messages of a rank to and from PROC_NULL are checked (`NUMBER_CHECKS`): a check takes longer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from linecache import getlines
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fakempi.mpi.base.call_site import cached_by_code, frame_at, is_ours, place_of, public_call
from fakempi.mpi.base.process import Process

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class CallerVariables(NamedTuple):
    """The first line of a function of the program, and values of its variables; `find` is `get` of a dictionary."""

    first_line: int
    find: Callable[[str], Any]


def check_number(process: Process, parameter: str) -> None:
    """Report the call that runs now if its `dest` or `source`, which is -1, certainly is not the constant PROC_NULL."""
    process.number_checks -= 1
    frame, public = frame_at(1), None
    while frame is not None and is_ours(frame):
        frame, public = frame.f_back, frame  # type: ignore[assignment]  # the loop ends at None
    if frame is None or public is None:
        return
    verdicts = _verdicts(frame.f_code)
    known = verdicts.get((frame.f_lasti, parameter))
    if known == ():
        return
    variables = _variables(process, frame)
    if known is None:
        known = verdicts[frame.f_lasti, parameter] = _argument(frame, variables.first_line, public.f_code, parameter)
    if known and _is_number(known, variables):
        text = ast.unparse(known[0])
        elsewhere = "ANY_SOURCE" if parameter == "source" else "not a rank"
        sentence = (
            f"{parameter} is -1 ({text}): with MPICH and here that is PROC_NULL, with Open MPI it is {elsewhere}; "
            "use MPI.PROC_NULL"
        )
        call, place = public_call(frame_at(1))[0], place_of(frame)
        process.universe.report("rank-number", process.number, sentence, call=call, place=place)


def _variables(process: Process, frame: FrameType) -> CallerVariables:
    if process.variables_of_call is not None:
        first_line, values = process.variables_of_call()
        return CallerVariables(first_line, values.get)
    return CallerVariables(frame.f_code.co_firstlineno, lambda name: frame.f_locals.get(name, frame.f_globals.get(name)))


Known = tuple[ast.expr, Scope] | tuple[()]


@cached_by_code
def _verdicts(code: CodeType) -> dict[tuple[int, str], Known]:
    """(instruction that is a call, parameter) -> the expression that may be a number, and its scope; empty if it is none."""
    return {}


@lru_cache(maxsize=64)
def _tree(file: str, lines: tuple[str, ...]) -> ast.Module | None:
    try:
        return ast.parse("".join(lines), file)
    except (SyntaxError, ValueError):
        return None


def _argument(frame: FrameType, first_line: int, public: CodeType, parameter: str) -> Known:
    """Return the expression of an argument of the call that a frame makes, and its scope."""
    code = frame.f_code
    tree = _tree(code.co_filename, tuple(getlines(code.co_filename, frame.f_globals)))
    if tree is None:
        return ()
    scope = _scope(tree, code.co_name, first_line)
    calls = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.lineno <= frame.f_lineno <= (node.end_lineno or 0)
        and isinstance(node.func, ast.Attribute) and node.func.attr == public.co_name
    ]  # fmt: skip
    if scope is None or len(calls) != 1:
        return ()
    (call,) = calls
    names = public.co_varnames[1 : public.co_argcount]
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return ()
    given = dict(zip(names, call.args, strict=False)) | {str(one.arg): one.value for one in call.keywords}
    value = given.get(parameter)
    if isinstance(value, ast.Name):
        value = _only_value(scope, value.id)
    return (value, scope) if value is not None and _may_be_number(value) else ()


def _scope(tree: ast.Module, name: str, first_line: int) -> Scope | None:
    if name == "<module>":
        return tree
    functions = [
        node for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
        and first_line in (node.lineno, *(one.lineno for one in node.decorator_list))
    ]  # fmt: skip
    return functions[0] if len(functions) == 1 else None


def _only_value(scope: Scope, name: str) -> ast.expr | None:
    """Return the value of a variable that is assigned once in a scope, and nowhere bound otherwise."""
    bound = [node for node in ast.walk(scope) if _binds(node, name)]
    assigned = [node for node in ast.walk(scope) if isinstance(node, ast.Assign)
                and [one.id for one in node.targets if isinstance(one, ast.Name)] == [name]]  # fmt: skip
    return assigned[0].value if len(bound) == len(assigned) == 1 else None


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    return isinstance(node, (ast.arg, ast.alias)) and name in (getattr(node, "arg", ""), getattr(node, "asname", ""))


def _may_be_number(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant)
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub)


def _is_number(known: tuple[Any, ...], variables: CallerVariables) -> bool:
    """Whether an expression is a negative number as text, or a difference of numbers that are not negative."""
    value, scope = known
    if isinstance(value, ast.UnaryOp):
        return True
    if isinstance(value.right, ast.Constant) and value.right.value == 0:
        return False
    return all(_is_natural(side, scope, variables) for side in (value.left, value.right))


def _is_natural(value: ast.expr, scope: Scope, variables: CallerVariables) -> bool:
    if isinstance(value, ast.Constant):
        return type(value.value) is int
    if isinstance(value, ast.Attribute):
        return value.attr in ("rank", "size")
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr in ("Get_rank", "Get_size")
    if isinstance(value, ast.Name):
        now = variables.find(value.id)
        return type(now) is int and now >= 0 and sum(1 for _ in _bindings(scope, value.id)) <= 1
    return False


def _bindings(scope: Scope, name: str) -> Iterator[ast.AST]:
    return (node for node in ast.walk(scope) if _binds(node, name))
