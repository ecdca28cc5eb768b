"""Allgatherv among several groups: every rank receives all blocks outside its own group, in the time of the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Case, find
from collectives.catalogue.schedule import elapsed
from collectives.inter_patterns.multi_partite import allgatherv_multi_partite, groups_of, multi_partite_schedule
from tests.helpers.breadth import examples

COSTS = [fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=limit) for limit in (0, 10**6)]


def gathered(counts: list[int], numbers: list[int], cost: Any, backend: Any = "greenlets") -> float:
    """The time of one call, whose result is compared with numpy."""
    blocks = [np.arange(size, dtype=np.int64) + 1000 * rank for rank, size in enumerate(counts)]

    def main(comm: Any) -> None:
        rank = comm.Get_rank()
        others = [block for other, block in enumerate(blocks) if numbers[other] != numbers[rank]]
        expected = np.concatenate([*others, np.empty(0, np.int64)])
        recvbuf = np.full(expected.size, -1)
        allgatherv_multi_partite(comm, blocks[rank].copy(), recvbuf, counts, numbers)
        np.testing.assert_array_equal(recvbuf, expected)

    return float(fakempi.run(main, len(counts), cost=cost, backend=backend).time)


@pytest.mark.sample
@pytest.mark.slow
@given(ranks=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=14))
@settings(max_examples=examples(60), deadline=None)
def test_every_rank_receives_the_blocks_of_all_other_groups(ranks: list[tuple[int, int]]) -> None:
    """Groups in any order, blocks of any size; the time of the schedule with any buffering."""
    counts, numbers = [size for size, _ in ranks], [number for _, number in ranks]
    claimed = elapsed(multi_partite_schedule(counts, numbers, 8), len(ranks), 8, 0.5)
    assert [gathered(counts, numbers, cost) for cost in COSTS] == [claimed, claimed]


def test_the_same_on_threads() -> None:
    """The same on the thread backend."""
    counts, numbers = [3, 0, 5, 2, 2, 9, 1], [0, 1, 2, 0, 1, 2, 2]
    claimed = elapsed(multi_partite_schedule(counts, numbers, 8), 7, 8, 0.5)
    assert gathered(counts, numbers, COSTS[0], "threads") == claimed


@pytest.mark.parametrize(("groups", "size"), [(2, 8), (3, 5), (4, 16), (7, 3)])
def test_groups_of_equal_size_take_the_lower_bound(groups: int, size: int) -> None:
    """The time of all blocks outside the local group; a ring of all ranks takes all blocks but one."""
    numbers, k = [rank % groups for rank in range(groups * size)], 1000 * size
    time = elapsed(multi_partite_schedule([k] * len(numbers), numbers), len(numbers), 0, 1)
    assert time == (groups - 1) * size * k
    assert find("allgather", "ring").time(Case(len(numbers), k), 0, 1) == (groups * size - 1) * k


@given(n=st.integers(1, 9), more=st.lists(st.integers(0, 9), min_size=2, max_size=6))
@settings(max_examples=examples(60), deadline=None)
def test_groups_up_to_twice_as_large_as_others_are_within_1_5_of_the_bound(n: int, more: list[int]) -> None:
    """A small group still receives blocks when large ones begin to gather: at most 1.45 in 1,500 random cases."""
    sizes = [n + each % (n + 1) for each in more]
    numbers = [number for number, size in enumerate(sizes) for _ in range(size)]
    p, k = len(numbers), 1000
    time = elapsed(multi_partite_schedule([k] * p, numbers), p, 0, 1)
    least = (p - min(sizes)) * k
    assert least <= time <= 1.5 * least


def test_a_wrong_number_of_group_numbers_is_rejected() -> None:
    """There must be one group number for each block size."""
    with pytest.raises(ValueError, match=r"^there are 3 block sizes but 2 group numbers$"):
        groups_of([1, 2, 3], [0, 1])
