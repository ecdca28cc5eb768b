"""The steps from a buffer to its payload: in one order, each once."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi import buffers
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.payload import describe, describe_target
from fakempi.mpi.operations.operands import describe_both
from tests.helpers.loops import for_each

STEPS = ["resolve", "split", "memory_of", "make_span", "payload_of"]
"""specification and raw inside resolve, then span and payload: the steps that ARCHITECTURE.md lists."""

SIX = np.arange(6.0)
HOLED = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
HERE = MPI.Datatype.Create_struct([1], [MPI.Get_address(SIX)], [MPI.DOUBLE]).Commit()


class Kind(np.ndarray[Any, Any]):
    """A subclass of numpy's array."""


def steps(call: Any) -> list[str]:
    """The steps of a call, in order."""
    made: list[str] = []

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_globals["__name__"].startswith(buffers.__name__) and frame.f_code.co_name in STEPS:
            made.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return made


SHORT: dict[str, tuple[Any, list[str]]] = {
    "array": (SIX, []),
    "phantom": (fakempi.phantom(48), []),
    "bytearray": (bytearray(48), []),
    "subclass": (SIX.view(Kind), ["memory_of"]),
    "Fortran's order": (np.asfortranarray(np.ones((2, 3))), ["memory_of"]),
    "memoryview": (memoryview(bytearray(48)), ["memory_of"]),
    "MPI.buffer": (MPI.Alloc_mem(48), ["memory_of"]),
    "[array, type]": ([SIX, MPI.DOUBLE], STEPS[:3]),
    "[array, count, type]": ([SIX, 3, MPI.DOUBLE], STEPS[:3]),
    "[bytearray, type]": ([bytearray(48), MPI.DOUBLE], STEPS[:3]),
    "[array, count, holes]": ([SIX, 1, HOLED], STEPS),
    "[phantom, type]": ([fakempi.phantom(48), MPI.DOUBLE], STEPS),
    "BOTTOM": ([MPI.BOTTOM, 1, HERE], STEPS),
}


@for_each(("spec", "expected"), SHORT.values())
@for_each("use", [describe, describe_target])
def test_a_message_takes_each_step_once_and_skips_what_it_can(use: Any, spec: Any, expected: list[str]) -> None:
    """An array is its own payload; a part of one needs no span."""
    assert steps(lambda: use(spec)) == expected


NOT_IN_A_ROW = ("phantom", "[array, count, holes]", "[phantom, type]", "BOTTOM")


@pytest.mark.parametrize(("name", "spec"), [(name, spec) for name, (spec, _) in SHORT.items()], ids=list(SHORT))
def test_collective_calls_and_reductions_take_the_same_steps_to_a_span(name: str, spec: Any) -> None:
    """Collective calls need none for an array or contiguous elements; calls with counts reach the datatype."""
    assert steps(lambda: Flat.of(spec)) == STEPS[: 0 if name == "array" else 4 if name in NOT_IN_A_ROW else 3]
    assert steps(lambda: describe_both(spec, spec)) == STEPS[:4] * 2
    whole = spec if not isinstance(spec, list) else [spec[0], [1], spec[-1]]
    assert steps(lambda: FlatVector.of(whole, 1))[:3] == STEPS[:3]


def test_a_file_imports_only_modules_listed_above_it() -> None:
    """The list is the package docstring; every file is in it."""
    assert buffers.__doc__ is not None
    rows = re.findall(r"^(\w+(?:, \w+)*)  ", buffers.__doc__, re.MULTILINE)
    order = [name for row in rows for name in row.split(", ")]
    directory = Path(buffers.__file__).parent
    assert sorted(order) == sorted(path.stem for path in directory.glob("*.py") if path.stem != "__init__")
    for place, name in enumerate(order):
        tree = ast.parse((directory / f"{name}.py").read_text(encoding="utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        used = {module.rpartition(".")[2] for module in modules if module.startswith(f"{buffers.__name__}.")}
        assert used <= set(order[:place]), name
