"""Datatypes of fakempi and of a real MPI: the same sizes, bounds, contents and packed bytes for a few hundred random types.

As a script, this file is the part that runs on a real MPI: it reads recipes from standard input and prints the results of
mpi4py. It runs in a separate process because importing mpi4py starts MPI.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import numpy as np
import pytest

from fakempi.mpi.base.status import Status
from fakempi.mpi.datatypes import predefined
from fakempi.mpi.datatypes.basic import CODES
from tests.real_mpi.processes import script_answer, through_json

BASICS = ["BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "C_DOUBLE_COMPLEX", "DOUBLE_INT", "SHORT_INT"]
MIDDLE, MEMORY = 40_000, 80_000  # start of the elements, in a memory of that number of bytes
COUNT = 2


def build(MPI: Any, recipe: Any) -> Any:
    """The datatype of a recipe: a name, or [constructor, arguments, old recipe(s)]."""
    if isinstance(recipe, str):
        return getattr(MPI, recipe)
    how, arguments, old = recipe
    if how == "struct":
        return MPI.Datatype.Create_struct(*arguments, [build(MPI, one) for one in old])
    return getattr(build(MPI, old), f"Create_{how}")(*arguments)


def facts(MPI: Any, recipe: Any) -> list[Any]:
    """The properties of a type."""
    datatype = build(MPI, recipe)
    _, how, params = datatype.decode()
    params.pop("datatypes", None)
    contents = [] if isinstance(recipe, str) else datatype.Get_contents()[:3]
    bounds = [datatype.Get_size(), datatype.Get_extent(), datatype.Get_true_extent()]
    return [bounds, datatype.Get_envelope(), contents, how, params, datatype.typestr]


def element_counts(MPI: Any, status: Any, recipe: Any) -> list[int]:
    """Get_elements for messages of 0 to 40 bytes.

    Not for darrays, where MPICH 5.0 aborts, and not for structs, where it continues to count after an incomplete element:
    two bytes and an int are 3 elements in 6 bytes and, in MPICH, 4 in 7.
    """
    datatype = build(MPI, recipe).Commit()
    found: list[int] = []
    if "darray" in str(recipe) or "struct" in str(recipe):
        return found
    for nbytes in range(41):
        status.Set_elements(MPI.BYTE, nbytes)
        found.append(status.Get_elements(datatype))
    return found


def basic_facts(MPI: Any, names: list[str]) -> list[Any]:
    """Names and sizes of the predefined types."""
    found = []
    for datatype in (getattr(MPI, name) for name in names):
        if datatype == MPI.DATATYPE_NULL:
            found.append([datatype.name, datatype.typestr, datatype.typechar])
        else:
            strings = [datatype.__reduce__(), datatype.typestr, datatype.typechar]
            found.append([*strings, datatype.Get_size(), datatype.Get_extent(), datatype.Get_true_extent()])
    return found


def portable(MPI: Any, names: list[str]) -> list[str]:
    """Some numbers in external32."""
    found = []
    for datatype in (getattr(MPI, name) for name in names):
        numbers = (np.arange(6) * 37 - 100).astype(datatype.typestr)
        packed = bytearray(datatype.Pack_external_size("external32", len(numbers)))
        assert datatype.Pack_external("external32", numbers, packed, 0) == len(packed)
        back = np.zeros_like(numbers)
        datatype.Unpack_external("external32", packed, 0, back)
        assert back.tolist() == numbers.tolist()
        found.append(packed.hex())
    return found


def answer() -> None:
    """The part that runs on a real MPI."""
    from mpi4py import MPI

    requested = json.load(sys.stdin)
    answers = []
    for recipe in requested["recipes"]:
        datatype = build(MPI, recipe).Commit()
        origin = datatype.Create_hindexed([COUNT], [MIDDLE]).Create_resized(0, MEMORY).Commit()
        memory = np.arange(MEMORY, dtype=np.uint32).astype(np.uint8)
        packed = bytearray(origin.size)
        assert origin.Pack(memory, packed, 0, MPI.COMM_SELF) == len(packed)
        counts = element_counts(MPI, MPI.Status(), recipe)
        answers.append([facts(MPI, recipe), counts, packed.hex()])
    codes = {code: datatype.__reduce__() for code, datatype in MPI._typedict.items()}
    basics, external = basic_facts(MPI, requested["names"]), portable(MPI, requested["external"])
    json.dump({"recipes": answers, "codes": codes, "names": basics, "external": external}, sys.stdout)


def random_recipe(draw: random.Random, depth: int) -> Any:
    """A recipe without the empty blocks and unusual bounds on which MPI libraries differ."""
    if depth == 0:
        return draw.choice(BASICS)
    old, small_numbers = random_recipe(draw, depth - 1), range(1, 4)
    blocks = draw.choice([1, 2, 5, 20])
    lengths = [draw.choice(small_numbers) for _ in range(blocks)]
    where = [4 * i + draw.choice(small_numbers) for i in range(blocks)]
    draw.shuffle(where)
    sizes = [draw.choice(small_numbers) + 1 for _ in small_numbers]
    starts = [draw.randrange(size) for size in sizes]
    subsizes = [draw.randint(1, size - start) for size, start in zip(sizes, starts, strict=True)]
    order = draw.choice([56, 57])
    other = draw.choice(["INT", "BYTE", old]) if isinstance(old, str) else "BYTE"  # MPICH takes [1 x INT] for an INT
    return draw.choice([
        ["contiguous", [draw.choice(small_numbers)], old],
        ["vector", [draw.choice(small_numbers), draw.choice(small_numbers), draw.randint(-4, 5)], old],
        ["hvector", [draw.choice(small_numbers), draw.choice(small_numbers), draw.randint(-40, 90)], old],
        ["indexed", [lengths, where], old],
        ["hindexed", [lengths, [7 * at for at in where]], old],
        ["indexed_block", [draw.choice(small_numbers), where], old],
        ["hindexed_block", [draw.choice(small_numbers), [9 * at for at in where]], old],
        ["struct", [lengths[:2], [11 * at for at in where[:2]]], [old, other][: len(lengths)]],
        ["subarray", [sizes, subsizes, starts, order], old],
        ["darray", [4, draw.randrange(4), [5, 6], [121, 122], [-49767, 2], [2, 2], order], old],
        ["resized", [draw.randint(-8, 8), draw.randint(1, 60)], old],
    ])  # fmt: skip


def within_memory(MPI: Any, recipe: Any) -> bool:
    low, high = build(MPI, recipe)._span(COUNT)
    return bool(low >= -MIDDLE and high <= MEMORY - MIDDLE)


EXTERNAL = ["BYTE", "SHORT", "INT", "LONG", "LONG_LONG", "FLOAT", "DOUBLE", "C_DOUBLE_COMPLEX", "INT32_T", "AINT"]


def some_recipes() -> list[Any]:
    """The same recipes every time."""
    draw, recipes = random.Random(20), list[Any](BASICS)
    while len(recipes) < 400:
        recipe = random_recipe(draw, draw.randint(1, 3))
        if within_memory(predefined, recipe):
            recipes.append(recipe)
    return recipes


@pytest.fixture(scope="module")
def real() -> Any:
    """The results of a real MPI."""
    question = {"recipes": some_recipes(), "names": list(predefined.BY_NAME), "external": EXTERNAL}
    return script_answer(__file__, question=question)


def test_random_types_agree(real: Any) -> None:
    """Sizes, bounds, envelopes, contents, element counts, packed bytes."""
    memory = np.arange(MEMORY, dtype=np.uint32).astype(np.uint8)
    for recipe, theirs in zip(some_recipes(), real["recipes"], strict=True):
        packed = build(predefined, recipe)._pack(memory, MIDDLE, COUNT)
        counts = element_counts(predefined, Status(), recipe)
        ours = through_json([facts(predefined, recipe), counts, packed.tobytes().hex()])
        assert [recipe, *ours] == [recipe, *theirs]


def test_predefined_types_agree(real: Any) -> None:
    """Names and sizes."""
    ours = through_json(basic_facts(predefined, list(predefined.BY_NAME)))
    assert dict(zip(predefined.BY_NAME, ours, strict=True)) == dict(zip(predefined.BY_NAME, real["names"], strict=True))


def test_type_codes_agree(real: Any) -> None:
    """Every code, and the type it stands for."""
    assert {code: definition.label for code, definition in CODES.items()} == real["codes"]


def test_portable_numbers_agree(real: Any) -> None:
    """external32, byte for byte."""
    assert portable(predefined, EXTERNAL) == real["external"]


if __name__ == "__main__":
    answer()
