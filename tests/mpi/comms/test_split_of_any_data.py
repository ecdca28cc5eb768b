"""Split by strings, bytes, floats, tuples and objects: by default and by an algorithm, compared with sorting in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import collectives
import fakempi
from collectives.split import UNDEFINED
from fakempi import MPI, Hockney
from fakempi.errors import MPIError, RankError
from fakempi.isolation import Program
from tests.helpers.breadth import examples

COST = Hockney(t_s=1, t_w=0, eager_limit=0)
NAMES = sorted(each.name for each in collectives.CATALOGUE if each.kind == "split")
BACKENDS = st.sampled_from(["greenlets", "threads"])


@dataclass(frozen=True, order=True)
class Version:
    """Data of a user-defined type."""

    major: int
    name: str


FLOATS = st.sampled_from([0.0, -0.0, 1.5, -1.5, 1e300, -5e-324, -5e-324 * 32765, float("inf"), float("-inf")])
NUMBERS = {"whole": st.sampled_from([0, 1, 2**31, 2**40, 2**63 - 1]), "floats": FLOATS}
TYPES: dict[str, st.SearchStrategy[Any]] = {
    **NUMBERS,
    "strings": st.sampled_from(["", "a", "node7", "node70", "\u00e9", "\ud800", "a\0"]),
    "bytes": st.sampled_from([b"", b"a", b"a\0", b"\xff" * 9]),
    "tuples": st.tuples(st.sampled_from([0, 1, 1.0, True, 2**70]), st.sampled_from(["x", "y" * 9])),
    "objects": st.builds(Version, st.integers(0, 2), st.sampled_from("ab")),
    "fractions": st.sampled_from([Fraction(1, 2), Fraction(2, 4), Fraction(-7)]),
}
WHOLE_KEYS = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)
KEYS = {**TYPES, "whole": WHOLE_KEYS, "lists": st.lists(st.integers(0, 2), max_size=2)}


@st.composite
def plans(draw: st.DrawFn, colors: Any = TYPES, keys: Any = KEYS) -> list[tuple[Any, Any]]:
    """A color and a key for each rank; some ranks are omitted, in either way, without effect on the type of keys."""
    size = draw(st.integers(1, 14))
    color, key = colors[draw(st.sampled_from(sorted(colors)))], keys[draw(st.sampled_from(sorted(keys)))]
    out = st.sampled_from([(None, 0), (MPI.UNDEFINED, 0), (MPI.UNDEFINED, "any")])
    return draw(st.lists(st.one_of(st.tuples(color, key), st.tuples(color, key), out), min_size=size, max_size=size))


def sorted_groups(plan: list[tuple[Any, Any]]) -> list[list[int] | None]:
    """The group of each rank, by sorting."""
    found: list[list[int] | None] = []
    for color, _ in plan:
        alike = [(rank, key) for rank, (other, key) in enumerate(plan) if type(other) is type(color) and other == color]
        out = color is None or color == MPI.UNDEFINED
        found.append(None if out else [rank for rank, _ in sorted(alike, key=lambda one: one[1])])
    return found


def splitting(plan: list[tuple[Any, Any]]) -> Callable[[Any], list[int] | None]:
    """A program that splits and returns the members of this rank's group."""

    def main(comm: Any) -> list[int] | None:
        part = comm.Split(*plan[comm.Get_rank()])
        if part == MPI.COMM_NULL:
            return None
        members: list[int] = part.allgather(comm.Get_rank())
        assert members[part.Get_rank()] == comm.Get_rank()
        return members

    return main


@given(plan=plans(), backend=BACKENDS)
@settings(max_examples=examples(40), deadline=None)
def test_groups_equal_those_of_sorting(plan: list[tuple[Any, Any]], backend: Any) -> None:
    """Colors and keys of all types, some ranks omitted; by default."""
    run = fakempi.run(splitting(plan), len(plan), cost=COST, backend=backend, algorithms={"allgather": "ring"})
    assert run.returns == sorted_groups(plan)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), backend=BACKENDS)
@settings(max_examples=8, deadline=None)
def test_an_algorithm_gives_the_same_groups(name: str, data: st.DataObject, backend: Any) -> None:
    """In its time, with all types that it supports."""
    colors, keys = (NUMBERS, {**NUMBERS, "whole": KEYS["whole"]}) if name == "radix" else (TYPES, KEYS)
    if name in ("hash", "hash64"):
        colors = {each: strategy for each, strategy in TYPES.items() if each not in ("objects", "fractions")}
    plan = data.draw(plans(colors, keys))
    run = fakempi.run(splitting(plan), len(plan), cost=COST, backend=backend, algorithms={"split": name})
    assert run.returns == sorted_groups(plan)


@pytest.mark.quick(5)
@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "radix"])
def test_strings_take_as_long_as_the_algorithm_with_strings(name: str, backend: Any) -> None:
    """On every rank, exactly: ranks exchange the lengths of names, which takes no time by default."""
    algorithm = collectives.find("split", name)

    def color(rank: int) -> Any:
        return MPI.UNDEFINED if rank == 4 else f"node{rank % 3 * 99}"

    assert MPI.UNDEFINED == UNDEFINED
    own = fakempi.run(lambda comm: algorithm.run(comm, color(comm.rank), 0) and None, 11, cost=COST, backend=backend)
    split = fakempi.run(lambda comm: comm.Split(color(comm.rank)) and None, 11, cost=COST, backend=backend,
                        algorithms={"split": name})  # fmt: skip
    assert (split.clocks, split.messages, split.bytes) == (own.clocks, own.messages, own.bytes)
    assert split.time > 0
    assert fakempi.run(lambda comm: comm.Split(color(comm.rank)) and None, 11, cost=COST, backend=backend).time == 0


@pytest.mark.parametrize("name", [None, "bitonic", "hash", "allgather_mpi"])
def test_a_rank_without_color_that_calls_first_learns_the_types(name: str | None) -> None:
    """It waits for the first rank with a color; if there is none, for the last rank."""
    algorithms = None if name is None else {"split": name}

    def late(comm: Any) -> tuple[int, float]:
        if comm.rank:
            fakempi.compute(comm.rank)
        part = comm.Split("ab"[comm.rank % 2] if comm.rank else None, ("later", -comm.rank))
        return (part.Get_size() if part else 0), MPI.Wtime()

    sizes, times = zip(*fakempi.run(late, 4, cost=COST, algorithms=algorithms).returns, strict=True)
    assert sizes == (0, 2, 1, 2)
    assert min(times) >= 3
    nothing: Any = None
    without = fakempi.run(lambda comm: comm.Split(nothing) == MPI.COMM_NULL, 3, cost=COST, algorithms=algorithms)
    assert without.returns == [True] * 3


def test_numpy_scalars_are_plain_values() -> None:
    """Strings, bytes, floats and integers from arrays."""
    for colors in (["a", "b", "a"], [b"a", b"b", b"a"], [1.5, 2.0, 1.5], [7, 1, 7]):
        plan = list(zip(np.array(colors), np.array([2.5, 1, 0.5], np.float32), strict=True))
        for algorithms in (None, {"split": "hash"}):
            assert fakempi.run(splitting(plan), 3, algorithms=algorithms).returns == [[2, 0], [1], [2, 0]]


def test_numbers_of_all_types_are_compared_by_default() -> None:
    """As in Python: 1 equals 1.0, and 2^80 is between floats."""
    plan = [(1, 2**80), (1.0, 1e24), (True, 1e25), (2**100, 0)]
    assert fakempi.run(splitting(plan), 4).returns == [[1, 0, 2]] * 3 + [[3]]


def test_two_groups_are_split_by_any_data_too() -> None:
    """On an intercommunicator, by the colors of both sides; by default."""

    def main(comm: Any) -> Any:
        low = comm.rank < 3
        inter = comm.Split(low).Create_intercomm(0, comm, 3 if low else 0)
        part = inter.Split(("left", "right")[comm.rank % 2], -1.5 * comm.rank)
        return None if part == MPI.COMM_NULL else (part.Get_rank(), part.Get_size(), part.Get_remote_size())

    assert fakempi.run(main, 5).returns == [(1, 2, 1), (0, 1, 1), (0, 2, 1), (0, 1, 1), (0, 1, 2)]


def test_a_script_can_split_by_its_classes(tmp_path: Path) -> None:
    """Every rank has a separate class of that name; the objects are compared where they arrive."""
    script = tmp_path / "own.py"
    script.write_text(
        "from dataclasses import dataclass\n"
        "from mpi4py import MPI\n"
        "@dataclass(frozen=True, order=True)\n"
        "class Host:\n"
        "    name: str\n"
        "comm = MPI.COMM_WORLD\n"
        "part = comm.Split(Host('ab'[comm.rank % 2]), Host(str(9 - comm.rank)))\n"
        "assert part.allgather(comm.rank) == [[2, 0], [3, 1]][comm.rank % 2]\n"
    )
    for algorithms in (None, {"split": "bitonic"}):
        fakempi.run(Program([str(script)]), 4, algorithms=algorithms)


# -- errors -----------------------------------------------------------------------------------------------------------


def refusal(plan: list[tuple[Any, Any]], algorithms: Any = None) -> MPIError:
    """Return the error of the first rank that fails."""
    with pytest.raises(RankError) as caught:
        fakempi.run(splitting(plan), len(plan), algorithms=algorithms)
    assert isinstance(caught.value.exception, MPIError)
    return caught.value.exception


HERE, THERE = (rf"{word} \(test_split_of_any_data\.py:\d+\)" for word in ("here", "on rank 0"))
AGAINST = "cannot be compared with"


@pytest.mark.parametrize("algorithms", [None, {"split": "hash"}])
@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ([(3, 0), ("a", 0)], rf"^Split on rank 1: color 'a' {HERE} {AGAINST} color 3 {THERE}\.$"),
        ([(0, b"a"), (0, "a")], rf"^Split on rank 1: key 'a' {HERE} {AGAINST} key b'a' {THERE}\.$"),
        ([(0, (1, 2)), (0, ("a", 2))], rf"^Split on rank 1: key \('a', 2\) {HERE} {AGAINST} key \(1, 2\) {THERE}\.$"),
        ([(0, 1j), (0, 2j)], rf"^Split on rank 1: key 2j {HERE} {AGAINST} key 1j {THERE}\.$"),
        ([(0, None)], r"^Split on rank 0: key None has no order\.$"),
        ([([1], 0)], r"^Split on rank 0: color \[1\] of type list cannot be a color: unhashable type: 'list'\.$"),
        ([(0, lambda: 0)], r"^Split on rank 0: key <function .* of type function cannot be a key: "),
    ],
)  # fmt: skip
def test_incomparable_values_are_rejected_with_both_lines(plan: list[Any], words: str, algorithms: Any) -> None:
    """At the second of the two calls, before any message is sent; also values that cannot be a color or a key."""
    error = refusal(plan, algorithms)
    assert isinstance(error, TypeError)
    with pytest.raises(MPIError, match=words):
        raise error


@pytest.mark.parametrize("value", [float("nan"), (1, float("nan")), np.float32("nan")])
def test_nan_is_rejected_as_color_and_key(value: Any) -> None:
    """NaN equals nothing, not even itself, and has no order."""
    assert "is NaN, which equals nothing and has no order." in str(refusal([(0, value)]))
    assert str(refusal([(value, 0)])).startswith("Split on rank 0: color ")


def test_keys_without_a_total_order_are_rejected_at_the_end() -> None:
    """The first one can be compared with both of the others."""
    error = refusal([(0, (0,)), (0, (1, "a")), (0, (1, 2))])
    assert str(error) == "Split: key (1, 'a') of rank 1 cannot be compared with key (1, 2) of rank 2."


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ([(0, 1), (0, 1.5)], rf"key 1\.5 {HERE} is a float, but key 1 {THERE} is an integer: .* needs a single type\.$"),
        ([(1 << 64, 0)], r"^Split on rank 0: color 18446744073709551616 does not fit in the 64-bit integers of split"),
        ([(Fraction(1), 0)], r"^split hash: colors that are equal by a comparison function may have different hashes; "),
    ],
)  # fmt: skip
def test_an_algorithm_supports_fewer_types(plan: list[Any], words: str) -> None:
    """By default these can be compared."""
    fakempi.run(splitting(plan), len(plan))
    with pytest.raises(MPIError, match=words):
        raise refusal(plan, {"split": "hash"})


@pytest.mark.parametrize("colors", [(1j, 2j), (frozenset("a"), frozenset("b"))])
@pytest.mark.parametrize("name", ["allgather_mpi", "bitonic"])
def test_objects_as_colors_need_an_order_for_algorithms_only(name: str, colors: Any) -> None:
    """Complex numbers have none, and sets have a partial one."""
    plan = [(colors[rank % 2], -rank) for rank in range(4)]
    assert fakempi.run(splitting(plan), 4).returns == [[2, 0], [3, 1]] * 2
    with pytest.raises(MPIError, match=r"^Split on rank \d: the colors .* and .* have no order, which a split algorithm"):
        raise refusal(plan, {"split": name})
