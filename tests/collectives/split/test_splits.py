"""Every split gives the groups and orders of a sequential sort, for any number of ranks, colors and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm
from collectives.chain import NO_RANK
from collectives.chain.collect import addresses
from collectives.split import UNDEFINED
from tests.collectives.chain.harness import EXACT, run_order
from tests.collectives.split.harness import SPLITS, expected, name_of, run_split, splits, view_of
from tests.helpers.breadth import breadth

WIDE = st.integers(-(1 << 63), (1 << 63) - 1)
NAMES = ["", "a", "a\0", "b", "node17", "node170", "x" * 300, "ünïcödé", "\ud800"]
KEYS = {
    "none": st.none(),
    "few": st.integers(-2, 2),
    "equal": st.just(7),
    "wide": WIDE,
    "strings": st.sampled_from(NAMES),
    "bytes": st.binary(max_size=3),
}
COLORS = {
    **KEYS,
    "undefined": st.one_of(st.just(UNDEFINED), st.integers(0, 3)),
    "undefined names": st.one_of(st.just(UNDEFINED), st.sampled_from(NAMES)),
    "distinct": st.none(),  # the ranks, shuffled
    "colliding": st.integers(0, 5).map(bytes),  # all have Jenkins' hash 0, in every rotation
}


@st.composite
def drawn_splits(draw: Any) -> tuple[list[Any], list[Any]]:
    """Draw the colors and keys of all ranks."""
    size = draw(st.one_of(st.integers(1, 12), st.integers(1, 70)))
    which = draw(st.sampled_from(sorted(COLORS)))
    if which == "distinct":
        colors = draw(st.permutations(range(size)))
    else:
        colors = draw(st.lists(COLORS[which], min_size=size, max_size=size))
    keys = draw(st.lists(KEYS[draw(st.sampled_from(sorted(KEYS)))], min_size=size, max_size=size))
    return colors, keys


@pytest.mark.sample
@pytest.mark.slow
@given(drawn_splits())
@settings(max_examples=12, deadline=None)
def test_groups_and_orders_equal_those_of_a_sequential_sort(drawn: tuple[list[Any], list[Any]]) -> None:
    """Few and many colors, equal and distinct ones, long strings, colliding hashes, no colors."""
    colors, keys = drawn
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys), algorithm


@pytest.mark.slow
@given(st.integers(71, 200), st.integers(1, 200), st.integers(1, 200), st.randoms(use_true_random=False))
@settings(max_examples=breadth(2, 20), deadline=None)
def test_splits_of_up_to_200_ranks(size: int, count: int, kinds: int, random: Any) -> None:
    """Some ranks have the color UNDEFINED; these need no key unless widths are passed."""
    colors = [random.choice([UNDEFINED, *range(count)]) for _ in range(size)]
    keys = [random.randrange(-kinds, kinds) for _ in range(size)]
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys), algorithm
    last = [*colors[:-1], UNDEFINED], [*keys[:-1], None]
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, *last).returns == expected(*last), algorithm


def test_undefined_colors_work_as_in_mpi() -> None:
    """Also as a numpy integer; as a key, MPI.UNDEFINED is an ordinary number."""
    assert UNDEFINED == fakempi.MPI.UNDEFINED
    colors, keys = [np.int64(fakempi.MPI.UNDEFINED), 3, 3], [0, 1, fakempi.MPI.UNDEFINED]
    for algorithm in SPLITS:
        assert run_split(algorithm, colors, keys).returns == [None, (1, 2, 2, NO_RANK), (0, 2, NO_RANK, 1)]


def test_colors_of_different_types_are_never_one_group() -> None:
    """The sorts raise; hashes distinguish the types of equal bytes."""
    for algorithm in SPLITS:
        if algorithm.name == "hash":
            assert [view and view[1] for view in run_split(algorithm, ["a", b"a", "a"], [None] * 3).returns] == [2, 1, 2]
        elif algorithm.name != "radix":
            with pytest.raises(fakempi.RankError, match="the colors have the types string and bytes; all ranks must pass "):
                run_split(algorithm, ["a", b"a", "a"], [None] * 3)


def test_colors_of_other_types_need_a_comparison_function() -> None:
    """Tuples have no representation as bytes with the same order."""
    for algorithm in SPLITS:
        with pytest.raises(fakempi.RankError, match=r"\(1, 2\) is not an integer(, a string or bytes; pass a comparison|$)"):
            run_split(algorithm, [(1, 2)] * 3, [None] * 3)


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_any_number_of_ranks_is_split(algorithm: Algorithm) -> None:
    """Around powers of two, and 100."""
    for size in (*range(1, 10), 16, 19, 33, 100):
        colors, keys = [rank * rank % 5 for rank in range(size)], [-rank % 7 for rank in range(size)]
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys)


def ignoring_case(a: str, b: str) -> int:
    return (a.lower() > b.lower()) - (a.lower() < b.lower())


def by_real_part(a: complex, b: complex) -> int:
    return (a.real > b.real) - (a.real < b.real)


spellings = st.tuples(st.sampled_from("aAbBcC"), st.sampled_from([1j, 2j, 1 + 1j, -1]))


@given(st.lists(spellings, min_size=1, max_size=20), st.data())
@settings(max_examples=8, deadline=None)
def test_comparison_functions_support_any_data(drawn: list[tuple[str, complex]], data: Any) -> None:
    """Colors that are equal by the function but have different bytes, complex keys, and one rank without a color."""
    colors: list[Any] = [color for color, _ in drawn]
    colors[data.draw(st.integers(0, len(colors) - 1))] = UNDEFINED
    keys = [key for _, key in drawn]
    for compare in ((ignoring_case, by_real_part), (None, by_real_part)):
        for algorithm in splits(colors, keys, compare):
            found = run_split(algorithm, colors, keys, compare=compare).returns
            assert found == expected(colors, keys, compare), algorithm


@pytest.mark.parametrize("algorithm", [a for a in SPLITS if a.name != "allgather_mpi"], ids=name_of)
def test_chains_can_be_split_again(algorithm: Algorithm) -> None:
    """Ranks are those of the chain, addresses those of the communicator."""
    order = [8, 3, 11, 0, 5, 2, 9, 6, 1]

    def main(chain: Any) -> list[int]:
        half = algorithm.run(chain, chain.rank % 2, -chain.rank)
        return addresses(algorithm.run(half, half.rank // 2, None))

    found = run_order(main, order)
    # In descending rank order: even ranks 8 6 4 2 0, odd ranks 7 5 3 1; then pairs of these.
    assert found == [[8], [0, 3], [5, 11], [0, 3], [5, 11], [6, 2], [1, 9], [6, 2], [1, 9]]


@pytest.mark.quick(4)
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_both_backends_give_equal_groups(algorithm: Algorithm) -> None:
    """The clocks of all ranks are equal too."""
    colors, keys = [rank % 3 for rank in range(21)], [rank * 7 % 10 for rank in range(21)]
    runs = [run_split(algorithm, colors, keys, EXACT, backend) for backend in ("greenlets", "threads")]
    assert runs[0].returns == runs[1].returns == expected(colors, keys)
    assert runs[0].clocks == runs[1].clocks


@pytest.mark.quick(4)
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_splits_follow_each_other_without_mixing_messages(algorithm: Algorithm) -> None:
    """Ranks start the next split at different times, and messages are buffered."""

    def main(comm: Any) -> Any:
        rank = comm.Get_rank()
        fakempi.compute(rank % 5)
        return [view_of(algorithm.run(comm, rank % k, -rank)) for k in (1, 2, 3, 4)]

    run = fakempi.run(main, 21, cost=fakempi.Hockney(t_s=1.0, t_w=0.0))
    for at, k in enumerate((1, 2, 3, 4)):
        views = [found[at] for found in run.returns]
        assert views == expected([rank % k for rank in range(21)], [-rank for rank in range(21)])
