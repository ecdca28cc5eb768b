"""Sorts on chains: rank r gets the r-th item of a sequential sort, in exactly the claimed time."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, find
from collectives.catalogue.algorithm import UnsupportedCaseError
from collectives.chain import Chain, ItemMeter
from collectives.chain.collect import addresses
from collectives.chain.sort.bitonic import network, steps
from collectives.tools.numbers import ceil_log2
from collectives.verification.sort_and_split import item
from tests.collectives.chain.harness import ROUNDS, run_chain, run_order
from tests.helpers.loops import for_each

SORTS = [algorithm for algorithm in CATALOGUE if algorithm.kind == "chain"]
OF_ITEMS = [algorithm for algorithm in SORTS if algorithm.name != "radix"]
BLOCKS = {"cheng": ({"M": 1}, {"M": 3}, {"M": 8}, {"M": 1000})}


def name_of(algorithm: Algorithm) -> str:
    return algorithm.name


def opposite(a: bytes, b: bytes) -> int:
    return (a < b) - (a > b)


chains = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.integers(0, 9), min_size=n, max_size=n))
)


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", OF_ITEMS, ids=name_of)
@given(chains, st.data())
@settings(max_examples=6, deadline=None)
def test_rank_r_gets_the_r_th_item(algorithm: Algorithm, drawn: tuple[list[int], list[int]], data: Any) -> None:
    """On any chain, in ascending order, and in descending order by a comparison function."""
    order, numbers = drawn
    items = [item(number, rank) for rank, number in enumerate(numbers)]
    options = data.draw(st.sampled_from(BLOCKS.get(algorithm.name, ({},))))

    def main(chain: Chain) -> bytes:
        found: bytes = algorithm.run(chain, items[chain.rank], **options)
        return found

    def backwards(chain: Chain) -> bytes:
        found: bytes = algorithm.run(chain, items[chain.rank], order=cmp_to_key(opposite), **options)
        return found

    assert run_order(main, order) == sorted(items)
    assert run_order(backwards, order) == sorted(items, reverse=True)


@given(chains, st.integers(1, 6))
@settings(max_examples=12, deadline=None)
def test_radix_sorts_the_processes(drawn: tuple[list[int], list[int]], digit: int) -> None:
    """The sort is stable."""
    order, numbers = drawn

    def main(chain: Chain) -> tuple[int, list[int]]:
        found = find("sort", "radix", kind="chain").run(chain, numbers[chain.rank], bits=4, digit=digit)
        return found.rank, addresses(found)

    ranked = sorted(range(len(order)), key=lambda rank: (numbers[rank], rank))
    for rank, found in enumerate(run_order(main, order)):
        assert found == (ranked.index(rank), [order[each] for each in ranked])


@for_each("algorithm", [a for a in SORTS if a.schedule])
@for_each("size", [1, 2, 3, 5, 8, 21, 32])
def test_runs_equal_the_schedule(algorithm: Algorithm, size: int) -> None:
    """Messages, bytes, rounds and time do not depend on the data."""
    t_s, t_w, case = 8.0, 0.5, Case(size, 6)
    items = [item(7 * rank % 5, rank) for rank in range(size)]
    run = run_chain(lambda chain: algorithm.run(chain, items[chain.rank]), size, fakempi.Hockney(t_s, t_w, eager_limit=0))
    assert run.time == algorithm.time(case, t_s, t_w)
    assert run.messages == sum(len(transfers) for transfers in algorithm.schedule_for(case) or ())
    assert run.bytes == sum(algorithm.sent(case, rank) or 0 for rank in range(size))
    assert run_chain(lambda chain: algorithm.run(chain, items[chain.rank]), size, ROUNDS).time == algorithm.rounds(case)


@pytest.mark.parametrize("d", range(8))
def test_bitonic_takes_half_d_times_d_plus_one_steps(d: int) -> None:
    """For powers of two; finding the addresses takes 2 d more rounds."""
    bitonic = find("sort", "bitonic", kind="chain")
    assert len(network(0, 1 << d)) == d * (d + 1) // 2
    assert bitonic.rounds(Case(1 << d, 1)) == 2 * d + d * (d + 1) // 2


@for_each("size", [*range(1, 19), 31, 32, 33, 65])
def test_both_partners_of_a_step_agree_on_it(size: int) -> None:
    """The steps of all ranks form the network, and one rank of each pair keeps the smaller item."""
    own = [list(steps(rank, size)) for rank in range(size)]
    paired = [[(rank, rank + distance) for distance, _ in own[rank]] for rank in range(size)]
    all_steps = network(0, size)
    for rank in range(size):
        expected = [pair for pairs in all_steps for pair in pairs if rank in pair]
        assert [tuple(sorted(pair)) for pair in paired[rank]] == expected
    smaller = sum(keeps for rank in range(size) for _, keeps in own[rank])
    assert 2 * smaller == sum(map(len, own))


@for_each("algorithm", SORTS)
@for_each("size", [1, 2, 7, 50])
def test_no_rank_holds_more_items_than_claimed(algorithm: Algorithm, size: int) -> None:
    """The claims of serial, gather_scatter and bitonic are reached exactly."""
    options = {"cheng": {"M": 8}, "radix": {"bits": 16}}.get(algorithm.name, {})

    def main(chain: Chain) -> int:
        meter = ItemMeter()
        own: Any = 7 * chain.rank % size
        algorithm.run(chain, own if algorithm.name == "radix" else item(own, chain.rank), meter=meter, **options)
        assert meter.held == 0
        return meter.peak

    peak, claim = max(run_chain(main, size).returns), algorithm.held(Case(size, 6, parameters=options))
    assert claim is not None
    assert peak <= claim
    if algorithm.name in ("serial", "gather_scatter"):
        assert peak == claim == size
    if algorithm.name == "bitonic":
        assert claim == 2 + 2 * ceil_log2(size)
        assert peak == claim


def test_local_work_is_reported() -> None:
    """`work` receives the numbers of comparisons and moves."""
    counted = {}
    for algorithm in OF_ITEMS:

        def main(chain: Chain, algorithm: Algorithm = algorithm) -> int:
            counts: list[int] = []
            algorithm.run(chain, item(-chain.rank % 7, chain.rank), work=counts.append)
            return sum(counts)

        counted[algorithm.name] = run_chain(main, 16).returns
    assert counted["serial"] == [16 * 4] * 16
    assert counted["bitonic"] == [10] * 16
    assert counted["gather_scatter"] == counted["cheng"]
    assert counted["gather_scatter"][:5] == [2 + 4 + 8 + 16, 0, 2, 0, 2 + 4]


def test_invalid_parameters_raise() -> None:
    """The message has the value."""
    lone = Chain.singleton(None, 0)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedCaseError, match="chain sort cheng: M = 0 is not positive"):
        find("sort", "cheng", kind="chain").run(lone, b"x", M=0)
    with pytest.raises(UnsupportedCaseError, match="chain sort radix: digit = 17 is not between 1 and 16 bits"):
        find("sort", "radix", kind="chain").run(lone, 1, bits=4, digit=17)
