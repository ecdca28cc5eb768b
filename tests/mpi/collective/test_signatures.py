"""The collective calls have mpi4py's names, arguments, order and defaults: read off its stub file, so no MPI is started."""

from __future__ import annotations

import ast
import inspect
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fakempi import MPI

WORDS = ("barrier", "bcast", "gather", "scatter", "alltoall", "reduce", "scan", "neighbor")


def stub() -> ast.Module:
    """mpi4py's description of itself."""
    found = find_spec("mpi4py")
    if found is None or found.origin is None:
        pytest.skip("mpi4py is not installed")
    return ast.parse(Path(found.origin).with_name("MPI.pyi").read_text(encoding="utf-8"))


def expected(name: str) -> dict[str, list[tuple[str, str | None]]]:
    """Of a class: each collective call with its arguments and their defaults, as text."""
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
    """The same of one of our calls: a default that is a constant of MPI's is told by its name."""
    told = []
    for parameter in inspect.signature(call).parameters.values():
        value = parameter.default
        named = {id(getattr(MPI, name)): name for name in ("SUM", "INFO_NULL")}
        told.append((parameter.name, None if value is inspect.Parameter.empty else named.get(id(value), repr(value))))
    return told


@pytest.mark.parametrize(("name", "count"), [("Comm", 53), ("Intracomm", 8), ("Intercomm", 0), ("Topocomm", 17)])
def test_signatures_are_mpi4pys(name: str, count: int) -> None:
    """Those of all communicators; within one group there are prefixes besides, with a topology the neighbourhood's."""
    calls = expected(name)
    assert len(calls) == count
    kinds = [MPI.Comm, MPI.Intracomm, MPI.Intercomm] if name == "Comm" else [getattr(MPI, name)]
    for kind in kinds:
        assert {call: ours(getattr(kind, call)) for call in calls} == calls


def test_prefixes_are_only_within_one_group() -> None:
    """Neither here nor there has an intercommunicator any."""
    inherited = [*expected("Comm"), *expected("Intercomm")]
    calls = [name for name in dir(MPI.Intercomm) if name[0] != "_" and any(word in name.lower() for word in WORDS)]
    assert sorted(calls) == sorted(inherited)
