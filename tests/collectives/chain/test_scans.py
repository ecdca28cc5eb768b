"""Double scans: equal to sequential results for associative functions, in ceil(log2 N) rounds."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives.chain import Chain
from collectives.chain.objects import allreduce_objects, exclusive_scan_objects, scan_objects, segmented_scan_objects
from collectives.chain.scan import allreduce, by_op, double_exclusive_scan, double_scan, segmented_double_scan
from collectives.tools.numbers import ceil_log2
from tests.collectives.chain.harness import EXACT, ROUNDS, run_chain, run_order
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

orders = st.integers(1, 40).flatmap(lambda n: st.permutations(range(n + 3)).map(lambda some: some[:n]))


def times(a: Any, b: Any) -> Any:
    """Product of 2 x 2 matrices: associative, not commutative."""
    return a @ b


def matrix(number: int) -> Any:
    return np.array([[1, number], [number % 3, 1]], np.uint64)  # overflow wraps around, which is associative


def folded(values: list[Any]) -> list[Any]:
    return [each.tolist() for each in accumulate(values, times)]


@pytest.mark.sample
@pytest.mark.slow
@given(orders)
@settings(max_examples=examples(30), deadline=None)
def test_double_scans_equal_the_sequential_result(order: list[int]) -> None:
    """For matrix products, which depend on the order, and chains in any order of ranks."""

    def main(chain: Chain) -> Any:
        own = matrix(chain.rank + 2)
        inclusive = double_scan(chain, own, own, times)
        exclusive = double_exclusive_scan(chain, own, own, times)
        return [part if part is None else part.tolist() for part in (*inclusive, *exclusive, allreduce(chain, own, times))]

    values = [matrix(rank + 2) for rank in range(len(order))]
    before = folded(values)
    after = [total.tolist() for total in accumulate(reversed(values), lambda a, b: times(b, a))][::-1]
    for rank, found in enumerate(run_order(main, order)):
        expected = [before[rank], after[rank], None, None, before[-1]]
        expected[2] = before[rank - 1] if rank else None
        expected[3] = after[rank + 1] if rank + 1 < len(order) else None
        assert found == expected


@given(st.lists(st.booleans(), min_size=1, max_size=50))
@settings(max_examples=examples(30), deadline=None)
def test_segmented_scans_stay_within_segments(marks: list[bool]) -> None:
    """Sums within segments that start at the marks."""
    size = len(marks)
    starts = [True, *marks[1:]]
    ends = [*starts[1:], True]

    def main(chain: Chain) -> Any:
        own = np.array([chain.rank, 1])
        both = segmented_double_scan(chain, own, np.add, first=starts[chain.rank], last=ends[chain.rank])
        return [part.tolist() for part in both]

    for rank, (before, after) in enumerate(run_chain(main, size).returns):
        first = max(r for r in range(rank + 1) if starts[r])
        end = min(r for r in range(rank, size) if ends[r]) + 1
        assert before == [sum(range(first, rank + 1)), rank + 1 - first]
        assert after == [sum(range(rank, end)), end - rank]


@given(st.lists(st.booleans(), min_size=1, max_size=40))
@settings(max_examples=examples(30), deadline=None)
def test_objects_of_any_length_are_scanned(marks: list[bool]) -> None:
    """Concatenated strings: inclusive, exclusive and segmented scans, and allreduce."""
    names = [f"{rank}," for rank in range(len(marks))]
    starts = [True, *marks[1:]]
    ends = [*starts[1:], True]

    def join(a: str, b: str) -> str:
        return a + b

    def main(chain: Chain) -> Any:
        own, first, last = names[chain.rank], starts[chain.rank], ends[chain.rank]
        return (
            *scan_objects(chain, own, own, join),
            *exclusive_scan_objects(chain, own, own, join),
            *segmented_scan_objects(chain, own, join, first=first, last=last),
            allreduce_objects(chain, own, join),
        )

    for rank, found in enumerate(run_chain(main, len(names)).returns):
        first = max(r for r in range(rank + 1) if starts[r])
        end = min(r for r in range(rank, len(names)) if ends[r]) + 1
        parts = [names[: rank + 1], names[rank:], names[:rank], names[rank + 1 :], names[first : rank + 1], names[rank:end]]
        assert found == (*("".join(part) or None for part in parts), "".join(names))


def test_by_op_combines_with_an_mpi_op() -> None:
    """It calls Reduce_local."""

    def main(chain: Chain) -> int:
        return int(allreduce(chain, np.array([chain.rank + 1]), by_op(fakempi.MPI.PROD))[0])

    assert set(run_chain(main, 7).returns) == {5040}


@pytest.mark.sample
@pytest.mark.slow
@for_each("size", [*range(1, 35), 63, 64, 65, 127, 128, 129, 300])
def test_a_double_scan_takes_ceil_log2_rounds_of_two_messages(size: int) -> None:
    """Each round has one message per direction and rank."""
    sent = np.zeros(2)
    rounds = ceil_log2(size)
    run = run_chain(lambda chain: double_scan(chain, sent, sent, np.add) and None, size, ROUNDS)
    assert run.time == 2 * rounds
    # In round i all but the last 2^i ranks send to the right, and the same number to the left.
    assert run.messages == 2 * sum(size - (1 << i) for i in range(rounds))
    exact = run_chain(lambda chain: double_scan(chain, sent, sent, np.add) and None, size, EXACT)
    assert exact.time == 2 * rounds * (8 + sent.nbytes)


def test_both_backends_give_equal_scans() -> None:
    """The values and the clocks of all ranks are equal."""

    def main(chain: Chain) -> list[float]:
        own = np.array([float(chain.rank)])
        return [float(part[0]) for part in double_scan(chain, own, own, np.add)]

    runs = [run_chain(main, 100, EXACT, backend=backend) for backend in ("greenlets", "threads")]
    assert runs[0].returns == runs[1].returns
    assert runs[0].clocks == runs[1].clocks
