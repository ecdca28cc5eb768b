"""Every class, call, attribute and constant of mpi4py's stub file exists here, with its arguments and defaults.

The stub file is read as text, so no MPI is started. Names that are omitted on purpose are listed below.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from fakempi import MPI
from tests.helpers.loops import for_each
from tests.helpers.mpi4py_stub import MISSING, stub_file

INSIDE = """
    _set_abort_status _comm_lock _comm_lock_table _commctx_intra _commctx_inter _typecode _typealign _datatype_create
    _datatype_decode _sizeof _addressof _handleof __pyx_capi__ _typedict _typedict_c _typedict_f
"""
"""Names that mpi4py uses internally or for its C interface."""

DIFFERENT = {
    "Status.Get_count": "None stands for BYTE: a status knows no datatypes",
    "Exception.__init__": "it takes a message in addition to the error code",
    "buffer.cast": "None stands for no shape; in the stub file it is an ellipsis",
    "BottomType.__new__": "it can be unpickled",
    "InPlaceType.__new__": "it can be unpickled",
    "BufferAutomaticType.__new__": "it can be unpickled",
}
"""Signatures that differ from mpi4py's, with reasons."""


FILE = stub_file()
STUB = ast.parse("" if FILE is None else FILE.read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}

needs_mpi4py = pytest.mark.skipif(FILE is None, reason=MISSING)


def calls(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    """Functions by name; an overloaded function has several."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def values(body: list[ast.stmt]) -> list[str]:
    """Names that are assigned or annotated."""
    found = []
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        found += [target.id for target in targets if isinstance(target, ast.Name)]
    return found


def decorators(node: ast.FunctionDef) -> set[str]:
    return {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}


def has(owner: str, name: str) -> bool:
    """Whether fakempi has the name."""
    if owner and not hasattr(MPI, owner):
        return False
    return hasattr(getattr(MPI, owner) if owner else MPI, name)


def theirs(node: ast.FunctionDef) -> list[tuple[str | None, Any]]:
    """Name and default of each parameter; None for the name of a positional-only one, `...` if there is no default."""
    arguments = node.args
    assert not arguments.kwonlyargs
    nameless = 0 if not arguments.posonlyargs else len(arguments.posonlyargs)
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[Any] = [...] * (len(plain) - len(arguments.defaults))
    defaults += [eval(ast.unparse(default), {**vars(MPI), "COMM_SELF": MPI.COMM_SELF}) for default in arguments.defaults]
    found: list[tuple[str | None, Any]] = [
        (None if index < nameless else argument.arg, default)
        for index, (argument, default) in enumerate(zip(plain, defaults, strict=True))
    ]
    found += [("*" + rest.arg, ...) for rest in (arguments.vararg,) if rest]
    found += [("**" + rest.arg, ...) for rest in (arguments.kwarg,) if rest]
    return found[1:] if "classmethod" in decorators(node) else found


def ours(call: Any) -> list[tuple[str, Any]]:
    """The same for a call of fakempi, with all names."""
    stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(call).parameters.values()
    return [
        (stars.get(each.kind, "") + each.name, ... if each.default is each.empty else each.default) for each in parameters
    ]


def alike(call: Any, nodes: list[ast.FunctionDef]) -> bool:
    """Whether a call takes the arguments of the stub file, with the same names and defaults."""
    mine, stub = ours(call), max((theirs(node) for node in nodes), key=len)
    if len(mine) != len(stub):
        return False
    overloaded = len(nodes) > 1
    return all(
        name in (None, own) and (overloaded or (value is default or (type(value) is type(default) and value == default)))
        for (own, value), (name, default) in zip(mine, stub, strict=True)
    )


EXPECTED = [
    (owner, name)
    for owner, body in [("", STUB.body), *((name, node.body) for name, node in CLASSES.items())]
    for name in calls(body)
    if name not in INSIDE.split()
    if name != "__buffer__"  # pure Python classes have it from 3.12 on
]
HERE = [(owner, name) for owner, name in EXPECTED if has(owner, name)]


@needs_mpi4py
@for_each(("owner", "name"), HERE)
def test_a_call_takes_mpi4pys_arguments(owner: str, name: str) -> None:
    """Names, order and defaults; class methods and properties are the same."""
    nodes = calls(CLASSES[owner].body if owner else STUB.body)[name]
    thing = getattr(MPI, owner) if owner else MPI
    if "property" in decorators(nodes[0]):
        assert isinstance(getattr(thing, name), property)
        return
    call = getattr(thing, name)
    as_listed = alike(call, nodes) is (f"{owner}.{name}".strip(".") not in DIFFERENT)
    assert as_listed, (ours(call), [theirs(node) for node in nodes])
    if owner and "classmethod" in decorators(nodes[0]):
        assert isinstance(inspect.getattr_static(thing, name), classmethod)


@needs_mpi4py
def test_only_listed_names_are_missing() -> None:
    """Calls, attributes, constants and classes."""
    missing = {(owner, name) for owner, name in EXPECTED if not has(owner, name)}
    missing |= {("", name) for name in CLASSES if not has("", name)}
    missing |= {("", name) for name in values(STUB.body) if not has("", name)}
    for owner, node in CLASSES.items():
        missing |= {(owner, name) for name in values(node.body) if not has(owner, name)}
    assert missing - {("", name) for name in INSIDE.split()} == set()


@needs_mpi4py
def test_the_lists_contain_only_names_of_mpi4py() -> None:
    """A misspelled name would exclude nothing."""
    known = {*calls(STUB.body), *values(STUB.body)}
    assert [name for name in INSIDE.split() if name not in known] == []


@needs_mpi4py
def test_constants_are_of_mpi4pys_types() -> None:
    """Integers, datatypes, groups ... as annotated in the stub file."""
    wrong = []
    for node in STUB.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        name, annotation = node.target.id, ast.unparse(node.annotation)
        kind: Any = {"Final[int]": int}.get(annotation) or vars(MPI).get(annotation.removeprefix("Final[").removesuffix("]"))
        if kind is not None and has("", name) and not isinstance(getattr(MPI, name), kind):
            wrong.append(f"{name}: {annotation}")
    assert wrong == []


@needs_mpi4py
def test_classes_have_mpi4pys_bases() -> None:
    """An Intracomm is a Comm, and so on."""
    wrong = [
        name
        for name, node in CLASSES.items()
        for base in node.bases
        if has("", name) and isinstance(base, ast.Name) and base.id in CLASSES
        if not issubclass(getattr(MPI, name), getattr(MPI, base.id))
    ]
    assert wrong == []
