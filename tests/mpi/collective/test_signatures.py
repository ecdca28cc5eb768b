"""The collective calls have mpi4py's names, arguments, order and defaults, read from its stub file without starting MPI."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from fakempi import MPI
from tests.helpers.mpi4py_stub import MISSING, stub_file

WORDS = ("barrier", "bcast", "gather", "scatter", "alltoall", "reduce", "scan", "neighbor")


def stub() -> ast.Module:
    """The syntax tree of mpi4py's stub file."""
    if (path := stub_file()) is None:
        pytest.skip(MISSING)
    return ast.parse(path.read_text(encoding="utf-8"))


def expected(name: str) -> dict[str, list[tuple[str, str | None]]]:
    """Each collective call of a class with its arguments and their defaults, as text."""
    (kind,) = [node for node in stub().body if isinstance(node, ast.ClassDef) and node.name == name]
    calls = [each for each in kind.body if isinstance(each, ast.FunctionDef)]
    calls = [each for each in calls if each.name[0] != "_" and any(word in each.name.lower() for word in WORDS)]
    found = {}
    for call in calls:
        names = [argument.arg for argument in call.args.args]
        values = [None] * (len(names) - len(call.args.defaults)) + [ast.unparse(value) for value in call.args.defaults]
        found[call.name] = list(zip(names, values, strict=True))
    return found


def ours(call: Any) -> list[tuple[str, str | None]]:
    """The same for a call of fakempi: a default that is an MPI constant is shown by its name."""
    signature = []
    for parameter in inspect.signature(call).parameters.values():
        value = parameter.default
        named = {id(getattr(MPI, name)): name for name in ("SUM", "INFO_NULL")}
        signature.append((parameter.name, None if value is inspect.Parameter.empty else named.get(id(value), repr(value))))
    return signature


@pytest.mark.parametrize(("name", "count"), [("Comm", 53), ("Intracomm", 8), ("Intercomm", 0), ("Topocomm", 17)])
def test_signatures_equal_those_of_mpi4py(name: str, count: int) -> None:
    """Calls of all communicators; intracommunicators also have scans, topologies neighborhood collectives."""
    calls = expected(name)
    assert len(calls) == count
    kinds = [MPI.Comm, MPI.Intracomm, MPI.Intercomm] if name == "Comm" else [getattr(MPI, name)]
    for kind in kinds:
        assert {call: ours(getattr(kind, call)) for call in calls} == calls


def test_scans_exist_within_one_group_only() -> None:
    """Intercommunicators have none, here and in mpi4py."""
    inherited = [*expected("Comm"), *expected("Intercomm")]
    calls = [name for name in dir(MPI.Intercomm) if name[0] != "_" and any(word in name.lower() for word in WORDS)]
    assert sorted(calls) == sorted(inherited)
