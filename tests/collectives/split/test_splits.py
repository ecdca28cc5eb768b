"""Every split gives the groups and orders that sorting in one place gives: any number of ranks, any colours and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm
from collectives.chain import NOBODY
from collectives.chain.collect import addresses
from collectives.split import UNDEFINED
from tests.collectives.chain.harness import EXACT, run_order
from tests.collectives.split.harness import SPLITS, every, expected, run_split, splits, view_of

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
    "colliding": st.integers(0, 5).map(bytes),  # which all have the hash 0, however they are turned
}


@st.composite
def drawn_splits(draw: Any) -> tuple[list[Any], list[Any]]:
    """Colours and keys of all ranks."""
    size = draw(st.one_of(st.integers(1, 12), st.integers(1, 70)))
    which = draw(st.sampled_from(sorted(COLORS)))
    if which == "distinct":
        colors = draw(st.permutations(range(size)))
    else:
        colors = draw(st.lists(COLORS[which], min_size=size, max_size=size))
    keys = draw(st.lists(KEYS[draw(st.sampled_from(sorted(KEYS)))], min_size=size, max_size=size))
    return colors, keys


@given(drawn_splits())
@settings(max_examples=40, deadline=None)
def test_groups_and_orders_are_those_of_sorting_in_one_place(drawn: tuple[list[Any], list[Any]]) -> None:
    """Few colours, many, equal ones, all distinct, long strings, colliding hashes, none."""
    colors, keys = drawn
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys), algorithm


@pytest.mark.slow
@given(st.integers(71, 200), st.integers(1, 200), st.integers(1, 200), st.randoms(use_true_random=False))
@settings(max_examples=4, deadline=None)
def test_many_ranks_too(size: int, many: int, kinds: int, random: Any) -> None:
    """Up to 200, with some left out, who need not have a key where nobody says how long keys are."""
    colors = [random.choice([UNDEFINED, *range(many)]) for _ in range(size)]
    keys = [random.randrange(-kinds, kinds) for _ in range(size)]
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys), algorithm
    last = [*colors[:-1], UNDEFINED], [*keys[:-1], None]
    for algorithm in splits(colors, keys):
        assert run_split(algorithm, *last).returns == expected(*last), algorithm


def test_who_is_left_out_says_so_as_in_mpi() -> None:
    """Whatever kind of number it comes as; as a key it is a number like others."""
    assert UNDEFINED == fakempi.MPI.UNDEFINED
    colors, keys = [np.int64(fakempi.MPI.UNDEFINED), 3, 3], [0, 1, fakempi.MPI.UNDEFINED]
    for algorithm in SPLITS:
        assert run_split(algorithm, colors, keys).returns == [None, (1, 2, 2, NOBODY), (0, 2, NOBODY, 1)]


def test_colours_of_two_kinds_are_never_one_group() -> None:
    """The sorts refuse them; to a hash they are different data, however alike their bytes."""
    for algorithm in SPLITS:
        if algorithm.name == "hash":
            assert [view and view[1] for view in run_split(algorithm, ["a", b"a", "a"], [None] * 3).returns] == [2, 1, 2]
        elif algorithm.name != "radix":
            with pytest.raises(fakempi.RankError, match="some colours are text and some are bytes"):
                run_split(algorithm, ["a", b"a", "a"], [None] * 3)


def test_data_without_an_order_of_its_own_are_refused_with_a_word_of_advice() -> None:
    """A tuple, a float: nobody can say which comes first on all machines alike."""
    for algorithm in SPLITS:
        with pytest.raises(fakempi.RankError, match=r"\(1, 2\) is (neither a whole number, a string nor|not a whole)"):
            run_split(algorithm, [(1, 2)] * 3, [None] * 3)


@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_any_number_of_ranks_is_split(algorithm: Algorithm) -> None:
    """All up to 19 and some up to 200."""
    for size in (*range(1, 20), 31, 32, 33, 65, 100, 200):
        colors, keys = [rank * rank % 5 for rank in range(size)], [-rank % 7 for rank in range(size)]
        assert run_split(algorithm, colors, keys).returns == expected(colors, keys)


def caselessly(a: str, b: str) -> int:
    return (a.lower() > b.lower()) - (a.lower() < b.lower())


def by_real_part(a: complex, b: complex) -> int:
    return (a.real > b.real) - (a.real < b.real)


spellings = st.tuples(st.sampled_from("aAbBcC"), st.sampled_from([1j, 2j, 1 + 1j, -1]))


@given(st.lists(spellings, min_size=1, max_size=20), st.data())
@settings(max_examples=8, deadline=None)
def test_any_data_is_compared_by_a_function(drawn: list[tuple[str, complex]], data: Any) -> None:
    """Colours that are alike but not the same, keys without an order of their own; one rank with none."""
    colors: list[Any] = [color for color, _ in drawn]
    colors[data.draw(st.integers(0, len(colors) - 1))] = UNDEFINED
    keys = [key for _, key in drawn]
    for compare in ((caselessly, by_real_part), (None, by_real_part)):
        for algorithm in splits(colors, keys, compare):
            found = run_split(algorithm, colors, keys, compare=compare).returns
            assert found == expected(colors, keys, compare), algorithm


@pytest.mark.parametrize("algorithm", [a for a in SPLITS if a.name != "allgather_mpi"], ids=every)
def test_a_chain_is_split_as_a_communicator_is(algorithm: Algorithm) -> None:
    """Into chains that are split again; ranks are those of the chain, addresses those of the communicator."""
    order = [8, 3, 11, 0, 5, 2, 9, 6, 1]

    def main(chain: Any) -> list[int]:
        half = algorithm.run(chain, chain.rank % 2, -chain.rank)
        return addresses(algorithm.run(half, half.rank // 2, None))

    found = run_order(main, order)
    # Backwards by rank: even ranks 8 6 4 2 0, odd ones 7 5 3 1; then in twos.
    assert found == [[8], [0, 3], [5, 11], [0, 3], [5, 11], [6, 2], [1, 9], [6, 2], [1, 9]]


@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_both_carriers_split_alike(algorithm: Algorithm) -> None:
    """The same groups at the same times."""
    colors, keys = [rank % 3 for rank in range(40)], [rank * 7 % 10 for rank in range(40)]
    runs = [run_split(algorithm, colors, keys, EXACT, carrier) for carrier in ("greenlets", "threads")]
    assert runs[0].returns == runs[1].returns == expected(colors, keys)
    assert runs[0].clocks == runs[1].clocks


@pytest.mark.parametrize("algorithm", SPLITS, ids=every)
def test_splits_follow_each_other_without_mixing_messages(algorithm: Algorithm) -> None:
    """Nobody waits for the others in between, and messages that wait for no receive overtake what they can."""

    def main(comm: Any) -> Any:
        rank = comm.Get_rank()
        fakempi.compute(rank % 5)
        return [view_of(algorithm.run(comm, rank % k, -rank)) for k in (1, 2, 3, 4)]

    run = fakempi.run(main, 21, cost=fakempi.Hockney(t_s=1.0, t_w=0.0))
    for at, k in enumerate((1, 2, 3, 4)):
        views = [found[at] for found in run.returns]
        assert views == expected([rank % k for rank in range(21)], [-rank for rank in range(21)])
