"""Derived datatypes compared with a type map written out byte by byte in plain Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fakempi.errors import MPIError
from fakempi.mpi.base import constants as c
from fakempi.mpi.datatypes import copying, layout
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

# A recipe is a predefined type's name, or [constructor, arguments, old recipe(s)].
Recipe = Any


def build(recipe: Recipe) -> Datatype:
    """The datatype that a recipe describes."""
    if isinstance(recipe, str):
        return MPI.BY_NAME[recipe]
    how, arguments, old = recipe
    if how == "struct":
        lengths, where = arguments
        return Datatype.Create_struct(lengths, where, [build(one) for one in old])
    made: Datatype = getattr(build(old), f"Create_{how}")(*arguments)
    return made


class Written:
    """The oracle: (offset, size) of every basic element in order, the bounds, the strictest alignment."""

    def __init__(self, items: list[tuple[int, int]], lb: int, ub: int, align: int) -> None:
        self.items, self.lb, self.ub, self.align = items, lb, ub, align
        self.extent = ub - lb

    def offsets(self) -> list[int]:
        """Every byte, in packed order."""
        return [start + i for start, size in self.items for i in range(size)]


def several(parts: list[tuple[int, Written]]) -> Written:
    """Types at consecutive displacements."""
    items = [(at + start, size) for at, old in parts for start, size in old.items]
    bounds = [(at + old.lb, at + old.ub) for at, old in parts] or [(0, 0)]
    align = max((old.align for _, old in parts), default=1)
    return Written(items, min(low for low, _ in bounds), max(high for _, high in bounds), align)


def write(recipe: Recipe) -> Written:
    """The type map of a recipe, by MPI's definitions."""
    if isinstance(recipe, str):
        if recipe.endswith("_INT"):
            value, number = write(recipe.removesuffix("_INT")), write("INT")
            at = -(-value.extent // number.align) * number.align
            pair = several([(0, value), (at, number)])
            return Written(pair.items, 0, -(-pair.ub // pair.align) * pair.align, pair.align)
        dtype = MPI.BY_NAME[recipe]._dtype
        assert dtype is not None
        return Written([(0, dtype.itemsize)], 0, dtype.itemsize, dtype.alignment)
    how, args, old_recipe = recipe
    if how == "struct":
        olds = [write(one) for one in old_recipe]
        made = several([(at + i * old.extent, old) for n, at, old in zip(*args, olds, strict=True) for i in range(n)])
        members = [one for one, n in zip(old_recipe, args[0], strict=True) if n]
        same = len(members) < 2 or all(isinstance(one, str) and one == members[0] for one in members)
        round_to = 1 if same else made.align  # MPI leaves padding to the compiler; fakempi does as MPICH does
        return Written(made.items, made.lb, made.lb + -(-made.extent // round_to) * round_to, made.align)
    old = write(old_recipe)
    step = old.extent
    if how in ("resized", "dup"):
        lb, extent = args if args else (old.lb, old.extent)
        return Written(old.items, lb, lb + extent, old.align)
    if how == "contiguous":
        return several([(i * step, old) for i in range(args[0])])
    if how in ("vector", "hvector"):
        times, length, stride = args
        stride *= step if how == "vector" else 1
        return several([(i * stride + j * step, old) for i in range(times) for j in range(length)])
    if how in ("subarray", "darray"):
        return write_array(how, args, old)
    lengths, where = args if how in ("indexed", "hindexed") else ([args[0]] * len(args[1]), args[1])
    unit = 1 if how.startswith("h") else step
    return several([(at * unit + j * step, old) for n, at in zip(lengths, where, strict=True) for j in range(n)])


def write_array(how: str, args: list[Any], old: Written) -> Written:
    """Subarrays and parts of distributed arrays: the chosen indices of every axis, in all combinations."""
    if how == "subarray":
        sizes, subsizes, starts, order = args
        chosen = [list(range(start, start + n)) for start, n in zip(starts, subsizes, strict=True)]
    else:
        _, rank, sizes, distribs, dargs, psizes, order = args
        place = np.unravel_index(rank, psizes)
        chosen = []
        for n, kind, arg, p, me in zip(sizes, distribs, dargs, psizes, place, strict=True):
            block = {c.DISTRIBUTE_NONE: n, c.DISTRIBUTE_BLOCK: -(-n // p), c.DISTRIBUTE_CYCLIC: 1}[kind]
            block = block if arg == c.DISTRIBUTE_DFLT_DARG or kind == c.DISTRIBUTE_NONE else arg
            chosen.append([i for i in range(n) if i // block % p == me])
    if order == c.ORDER_FORTRAN:
        chosen, sizes = chosen[::-1], sizes[::-1]
    strides = [math.prod(sizes[axis + 1 :]) * old.extent for axis in range(len(sizes))]
    made = several(
        [(sum(i * s for i, s in zip(index, strides, strict=True)), old) for index in itertools.product(*chosen)]
    )
    return Written(made.items, 0, math.prod(sizes) * old.extent, old.align)


# -- random recipes ----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["BYTE", "SHORT", "INT", "DOUBLE", "C_DOUBLE_COMPLEX", "SHORT_INT", "DOUBLE_INT", "WCHAR"])
FEW = st.integers(0, 4)
CONSTRUCTORS = [
    "contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block", "hindexed_block", "struct", "subarray",
    "darray", "resized", "dup",
]  # fmt: skip


@st.composite
def placed(draw: st.DrawFn, unit: int) -> tuple[list[int], list[int]]:
    """Block lengths and displacements that rarely overlap, in any order; sometimes many of them."""
    lengths = draw(st.lists(st.integers(0, 3), max_size=draw(st.sampled_from([3, 40]))))
    gaps = draw(st.lists(FEW, min_size=len(lengths), max_size=len(lengths)))
    where, at = [], draw(st.integers(-3, 3))
    for length, gap in zip(lengths, gaps, strict=True):
        where.append(at * unit)
        at += length + gap
    order = draw(st.permutations(range(len(lengths)))) if draw(st.booleans()) else range(len(lengths))
    return [lengths[i] for i in order], [where[i] for i in order]


@st.composite
def derived(draw: st.DrawFn, olds: st.SearchStrategy[Recipe]) -> Recipe:
    """A recipe around others."""
    how = draw(st.sampled_from(CONSTRUCTORS))
    old = draw(olds)
    extent = max(1, write(old).extent)
    if how == "contiguous":
        return [how, [draw(FEW)], old]
    if how == "vector":
        return [how, [draw(FEW), draw(FEW), draw(st.integers(-5, 6))], old]
    if how == "hvector":
        return [how, [draw(FEW), draw(FEW), draw(st.integers(-2, 5)) * extent + draw(FEW)], old]
    if how in ("indexed", "hindexed"):
        return [how, list(draw(placed(extent + 1 if how == "hindexed" else 1))), old]
    if how in ("indexed_block", "hindexed_block"):
        return [how, [draw(FEW), draw(placed(extent if how == "hindexed_block" else 3))[1]], old]
    if how == "struct":
        members = draw(st.lists(olds, max_size=3))
        lengths = [draw(FEW) for _ in members]
        where, at = [], draw(st.integers(-9, 9))
        for n, member in zip(lengths, members, strict=True):
            where.append(at)
            at += n * max(0, write(member).extent) + draw(FEW)
        return [how, [lengths, where], members]
    if how == "resized":
        return [how, [draw(st.integers(-8, 8)), extent + draw(st.integers(-4, 9))], old]
    if how == "dup":
        return [how, [], old]
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    order = draw(st.sampled_from([c.ORDER_C, c.ORDER_FORTRAN]))
    if how == "subarray":
        starts = [draw(st.integers(0, n)) for n in sizes]
        subsizes = [draw(st.integers(0, n - start)) for n, start in zip(sizes, starts, strict=True)]
        return [how, [sizes, subsizes, starts, order], old]
    kinds = [draw(st.sampled_from([c.DISTRIBUTE_NONE, c.DISTRIBUTE_BLOCK, c.DISTRIBUTE_CYCLIC])) for _ in sizes]
    grid = [1 if kind == c.DISTRIBUTE_NONE else draw(st.integers(1, 3)) for kind in kinds]
    dargs = [
        draw(st.sampled_from([c.DISTRIBUTE_DFLT_DARG, n if kind == c.DISTRIBUTE_BLOCK else 2]))
        for n, kind in zip(sizes, kinds, strict=True)
    ]
    rank = draw(st.integers(0, math.prod(grid) - 1))
    return [how, [math.prod(grid), rank, sizes, kinds, dargs, grid, order], old]


RECIPES = st.recursive(NAMES, derived, max_leaves=4)
LARGEST = 20_000  # the largest type map that is written out, in bytes


def memory_for(datatype: Datatype, count: int, seed: int = 1) -> tuple[np.ndarray[Any, np.dtype[np.uint8]], int]:
    """Random bytes that hold `count` elements with space around them; and the position of the first."""
    low, high = datatype._span(count)
    offset = 5 + max(0, -low)
    return np.random.default_rng(seed).integers(0, 256, offset + max(0, high) + 7, np.uint8), offset


@given(RECIPES)
@settings(max_examples=examples(150), deadline=None)
def test_size_and_bounds_follow_from_the_type_map(recipe: Recipe) -> None:
    """Size, lb, extent, true lb and true extent of any nesting of constructors."""
    written, datatype = write(recipe), build(recipe)
    offsets = written.offsets()
    assert datatype.Get_size() == len(offsets)
    assert datatype.Get_extent() == (written.lb, written.extent)
    low, high = (min(offsets), max(offsets) + 1) if offsets else (0, 0)
    assert datatype.Get_true_extent() == (low, high - low)
    assert datatype._dense == (offsets == list(range(len(offsets))) and datatype.Get_extent() == (0, len(offsets)))


@contextmanager
def copied_as(how: str, datatype: Datatype) -> Iterator[None]:
    """Elements of the type are copied as few bytes, as long blocks, or with a small limit of numpy dimensions."""
    with pytest.MonkeyPatch.context() as patch:
        if how != "few":
            patch.setattr(copying, "MAX_INDEXED_BYTES", 0)
        if how == "peeled":
            patch.setattr(copying, "_MAX_DIMENSIONS", 1)
        datatype._definition.layout._cached_moves.clear()
        yield
        datatype._definition.layout._cached_moves.clear()


WAYS = st.sampled_from(["few", "many", "peeled"])
COUNTS = st.sampled_from([0, 1, 2, 3, 5, 40])


@given(RECIPES, COUNTS, WAYS)
@settings(max_examples=examples(150), deadline=None)
def test_packing_takes_the_bytes_of_the_type_map_in_order(recipe: Recipe, count: int, how: str) -> None:
    """`count` elements, from an origin in the middle of the memory, also into an array; the span is the bytes they touch."""
    written, datatype = write(recipe), build(recipe)
    assume(len(written.items) * count < LARGEST)
    memory, offset = memory_for(datatype, count)
    touched = [i * written.extent + byte for i in range(count) for byte in written.offsets()]
    expected = memory[[offset + byte for byte in touched]].tolist()
    assert datatype._span(count) == ((min(touched), max(touched) + 1) if touched else (0, 0))
    memory.flags.writeable = False
    with copied_as(how, datatype):
        packed = datatype._pack(memory, offset, count)
        assert packed.dtype == np.uint8
        assert packed.tolist() == expected
        room = np.zeros(len(expected) + 2, np.uint8)
        datatype._definition.layout.pack_into(room[1:-1], memory, offset, count)
        assert room.tolist() == [0, *expected, 0]


@given(RECIPES, st.integers(1, 3), WAYS)
@example(["vector", [3, 3, 0], "BYTE"], 1, "many")  # numpy alone does not ensure it
@settings(max_examples=examples(60), deadline=None)
def test_memory_may_be_packed_into_itself(recipe: Recipe, count: int, how: str) -> None:
    """As if through a separate array."""
    written, datatype = write(recipe), build(recipe)
    memory, offset = memory_for(datatype, count)
    touched = [offset + i * written.extent + byte for i in range(count) for byte in written.offsets()]
    assume(0 < len(touched) <= len(memory))
    expected = memory.copy()
    expected[: len(touched)] = memory[touched]
    with copied_as(how, datatype):
        datatype._definition.layout.pack_into(memory[: len(touched)], memory, offset, count)
    assert memory.tolist() == expected.tolist()


@given(RECIPES, COUNTS.filter(bool), st.data(), WAYS)
@settings(max_examples=examples(150), deadline=None)
def test_unpacking_fills_the_type_map_and_leaves_other_bytes(
    recipe: Recipe, count: int, data: st.DataObject, how: str
) -> None:
    """Also for a short message: the received part is in place, every other byte is unchanged."""
    written, datatype = write(recipe), build(recipe)
    assume(len(written.items) * count < LARGEST)
    touched = [i * written.extent + byte for i in range(count) for byte in written.offsets()]
    assume(len(set(touched)) == len(touched))
    memory, offset = memory_for(datatype, count)
    came = data.draw(st.sampled_from([len(touched), len(touched) // 2, max(0, len(touched) - 1)]))
    message = np.random.default_rng(2).integers(0, 256, came, np.uint8)
    expected = memory.copy()
    expected[[offset + byte for byte in touched[:came]]] = message
    with copied_as(how, datatype):
        datatype._unpack(message, memory, offset, count)
    assert memory.tolist() == expected.tolist()


@given(RECIPES, st.integers(1, 4), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_elements_are_copied_to_the_same_positions_of_another_memory(recipe: Recipe, count: int, same: bool) -> None:
    """Bytes between them are unchanged; or nothing is copied, and the function returns that.

    This is always so within one memory.
    """
    written, datatype = write(recipe), build(recipe)
    touched = [i * written.extent + byte for i in range(count) for byte in written.offsets()]
    assume(touched and len(set(touched)) == len(touched) < LARGEST)
    (memory, offset), (other, _) = memory_for(datatype, count), memory_for(datatype, count, seed=2)
    if same:
        other = np.concatenate([memory, other])
        memory = other[: len(memory)]
    at = offset + (len(memory) // 2 if same else 0)
    expected = other.copy()
    expected[[at + byte for byte in touched]] = memory[[offset + byte for byte in touched]]
    before = other.copy()
    with copied_as("many", datatype), pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LONG_RUN", 0)
        done = datatype._definition.layout.copy(memory, offset, other, at, count)
    assert not (done and same)
    assert other.tolist() == (expected if done else before).tolist()


@given(RECIPES, st.integers(0, 200))
@settings(deadline=None)
def test_elements_count_the_basic_ones_that_are_whole(recipe: Recipe, nbytes: int) -> None:
    """As Get_elements requires: pairs count twice, an incomplete element makes it UNDEFINED."""
    sizes = [size for _, size in write(recipe).items]
    ends = list(itertools.accumulate(sizes * (nbytes // max(1, sum(sizes)) + 1), initial=0)) if sizes else [0]
    assert build(recipe)._elements(nbytes) == (ends.index(nbytes) if nbytes in ends else c.UNDEFINED)


@given(RECIPES)
@settings(deadline=None)
def test_decode_returns_the_construction_of_a_type(recipe: Recipe) -> None:
    """decode() returns the constructor and its arguments; they create an equal type map."""
    datatype = build(recipe)
    old, how, params = datatype.decode()
    if how == "NAMED":
        assert old is datatype
        return
    again = getattr(old if old else Datatype, f"Create_{how.lower()}")(**params)
    memory, offset = memory_for(datatype, 2)
    assert again._pack(memory, offset, 2).tolist() == datatype._pack(memory, offset, 2).tolist()
    assert datatype.Get_envelope()[:4] == tuple(len(part) for part in datatype.Get_contents())


# -- sizes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe",
    [
        ["vector", [10**9, 2, 5], "DOUBLE"],
        ["contiguous", [10**9], ["struct", [[1, 3], [0, 9]], ["DOUBLE", "BYTE"]]],
        ["subarray", [[10**4, 10**4, 10**3], [10**3, 10**3, 10], [5, 6, 7], c.ORDER_C], "INT"],
        ["darray", [4, 3, [10**5, 10**5], [c.DISTRIBUTE_CYCLIC] * 2, [7, 9], [2, 2], c.ORDER_C], "INT"],
        ["indexed", [[10**9] * 3, [0, 10**10, 3 * 10**10]], ["resized", [0, 9], "INT"]],
        ["indexed_block", [3, list(range(0, 10**6, 5))], "INT"],
    ],
)
def test_regular_types_have_few_pieces(recipe: Recipe) -> None:
    """However many elements they have."""
    assert len(build(recipe)._definition.layout.pieces) <= 4


def test_irregular_blocks_are_copied_by_one_index_array() -> None:
    """An index for every double, not for every byte."""
    where = np.cumsum(np.random.default_rng(3).integers(1, 9, 1000)).tolist()
    datatype = MPI.DOUBLE.Create_indexed_block(1, where)
    (piece,) = datatype._definition.layout.pieces
    values = np.arange(10_000.0)
    assert datatype._pack(values.view(np.uint8), 0, 1).view(float).tolist() == values[where].tolist()
    assert piece.table is not None
    index = piece.table.index()
    assert index is not None
    assert len(index) == 1000


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("longer", [0, 100])
def test_irregular_blocks_are_restored_in_place(times: int, longer: int) -> None:
    """Short ones through an index, long ones one after the other; alone, and in a loop around them."""
    lengths, where = [longer + 1 + i for i in range(20)], [i * 200 + i % 3 for i in range(20)]
    datatype = MPI.INT.Create_indexed(lengths, where).Create_resized(0, 20_000).Create_contiguous(times)
    values = np.arange(10_000, dtype="i4")
    expected = [s * 5000 + at + i for s in range(times) for n, at in zip(lengths, where, strict=True) for i in range(n)]
    packed = datatype._pack(values.view(np.uint8), 0, 1)
    assert packed.view("i4").tolist() == expected
    blank = np.zeros(10_000, "i4")
    datatype._unpack(packed, blank.view(np.uint8), 0, 1)
    assert np.flatnonzero(blank).tolist() == [i for i in sorted(expected) if i]
    assert blank[expected].tolist() == expected
    with pytest.raises((IndexError, TypeError, ValueError)):
        datatype._pack(values.view(np.uint8), -4, 1)


def test_nesting_may_exceed_the_dimensions_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops beyond numpy's axes are executed one by one (with a limit of three axes here)."""
    monkeypatch.setattr(copying, "_MAX_DIMENSIONS", 3)
    recipe: Recipe = "SHORT"
    for level in range(6):
        recipe = ["resized", [0, 5 * 3**level + level], ["vector", [2, 1, 1 + level % 2], recipe]]
    datatype = build(recipe)
    memory, offset = memory_for(datatype, 2)
    touched = [offset + i * datatype.extent + byte for i in range(2) for byte in write(recipe).offsets()]
    assert datatype._pack(memory, offset, 2).tolist() == memory[touched].tolist()
    assert len(datatype._definition.layout.pieces[0].loops) > 3


def test_a_span_outside_memory_is_never_read() -> None:
    """Callers check bounds; without the check, numpy raises."""
    small = np.zeros(10, np.uint8)
    for datatype in (MPI.INT, MPI.INT.Create_vector(3, 1, 2)):
        with pytest.raises((IndexError, TypeError, ValueError)):
            datatype._pack(small, 0, 3)


# -- errors --------------------------------------------------------------------------------------------------------------


@for_each(
    ("recipe", "kind", "words"),
    [
        (["contiguous", [-1], "INT"], ValueError, r"count is -1, less than 0\.$"),
        (["contiguous", ["x"], "INT"], TypeError, r"count is 'x', not an integer\.$"),
        (["contiguous", [1.5], "INT"], TypeError, r"count is 1\.5, not an integer\.$"),
        (["vector", [1, -2, 1], "INT"], ValueError, r"blocklength is -2, less than 0\.$"),
        (["indexed", [[1], [1, 2]], "INT"], ValueError, r"displacements has 2 items where 1 are expected\.$"),
        (["indexed", [[1, -3], [1, 2]], "INT"], ValueError, r"blocklengths\[1\] is -3, less than 0\.$"),
        (["indexed", [2, [1, 2]], "INT"], TypeError, r"blocklengths is 2, not a sequence of integers\.$"),
        (["hindexed", [[1], [2**62]], "INT"], ValueError, r"bytes: too many\.$"),
        (["struct", [[1], [0]], ["INT", "INT"]], ValueError, r"1 blocklengths but 2 datatypes\.$"),
        (["subarray", [[], [], [], 56], "INT"], ValueError, r"at least one dimension, sizes is empty\.$"),
        (["subarray", [[4], [3], [2], 56], "INT"], ValueError, r"dimension 0 has 4 elements: 3 from 2 on exceed it\.$"),
        (["subarray", [[4], [3], [1], 5], "INT"], ValueError, r"order is 5: expecting ORDER_C or ORDER_FORTRAN\.$"),
        (["darray", [3, 0, [8, 8], [121] * 2, [4, 4], [2, 2], 56], "INT"], ValueError, r"2 x 2 has 4 .* size is 3\.$"),
        (["darray", [2, 2, [8], [121], [4], [2], 56], "INT"], ValueError, r"rank 2 is not in 0..1\.$"),
        (["darray", [2, 0, [8], [121], [3], [2], 56], "INT"], ValueError, r"2 blocks of 3 do not hold the 8 indices"),
        (["darray", [2, 0, [8], [123], [3], [2], 56], "INT"], ValueError, r"DISTRIBUTE_NONE\): psizes\[0\] is 2, not 1\.$"),
        (["darray", [2, 0, [8], [122], [0], [2], 56], "INT"], ValueError, r"dargs\[0\] is 0, less than 1\.$"),
        (["darray", [2, 0, [8], [7], [3], [2], 56], "INT"], ValueError, r"distribs\[0\] is 7, not one of MPI.DISTRIBUTE_"),
    ],
)
def test_invalid_arguments_are_named(recipe: Recipe, kind: type[Exception], words: str) -> None:
    """An MPI error that is also of Python's exception type, with the call and the numbers."""
    with pytest.raises(kind, match=words) as caught:
        build(recipe)
    assert isinstance(caught.value, MPIError)
    assert str(caught.value).startswith(f"Create_{recipe[0]}: ")
