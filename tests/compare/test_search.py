"""The best segment size of pipelined algorithms: it is found, bounded, and left alone if it is given."""

from __future__ import annotations

import pytest

from collectives import CATALOGUE, Algorithm, Case, find
from fakempi import Hockney
from fakempi.apps.compare import search
from fakempi.apps.compare.jobs import TimingJob
from fakempi.apps.compare.search import SEARCHED, best_value, searched_parameter
from fakempi.apps.compare.sweep import contenders, sweep, typed_parameters
from fakempi.apps.compare.timing import OSU, case_time

COSTS = 1e-6, 1e-9
COST = Hockney(*COSTS, eager_limit=0)
PIPELINED = [each for each in CATALOGUE if each.kind == "intra" and searched_parameter(each, {})]


@pytest.mark.quick(5)
@pytest.mark.parametrize("algorithm", PIPELINED, ids=repr)
def test_no_power_of_two_is_faster(algorithm: Algorithm) -> None:
    """All segment sizes from 256 bytes to the whole message."""
    (name,) = SEARCHED.keys() & algorithm.parameters.keys()
    operation = algorithm.operation
    for nbytes in (1 << 12, 100_000, 1 << 18):
        made = sweep(operation, [8], [nbytes], cost=COST, among=contenders(operation, "intra", [(algorithm, {})]))
        ((label, time),) = made.columns[0].times.items()
        for k in range(8, 19):
            among = contenders(operation, "intra", [(algorithm, {name: 1 << k})])
            (other,) = sweep(operation, [8], [nbytes], cost=COST, among=among).columns[0].times.values()
            assert time <= other, (label, nbytes, 1 << k)


def test_the_best_broadcast_of_a_long_message_is_near_the_bound() -> None:
    """With segments of 64 KiB it took 1.58 times as long as the lower bound."""
    (column,) = sweep("bcast", [1024], [1 << 20], cost=COST, among=contenders("bcast", "intra", [("circulant", {})])).columns
    assert column.bound is not None
    assert column.times["circulant"] < 1.2 * column.bound
    assert column.case_times["circulant"].parameters["segment_bytes"] < 1 << 14


def test_a_given_size_is_not_changed() -> None:
    """With search=False, the default is used."""
    given = contenders("bcast", "intra", [("chain", {"segment_bytes": 100})])
    (column,) = sweep("bcast", [16], [1 << 16], cost=COST, among=given).columns
    assert column.case_times["chain(segment_bytes=100)"].parameters == {}
    chain = contenders("bcast", "intra", [("chain", {})])
    (plain,) = sweep("bcast", [16], [1 << 16], cost=COST, among=chain, search=False).columns
    assert plain.times["chain"] == find("bcast", "chain").time(Case(16, 1 << 16), *COSTS)


def test_a_message_that_is_best_in_one_piece_has_no_parameter() -> None:
    """The default does not cut it either."""
    (column,) = sweep("bcast", [16], [64], cost=COST, among=contenders("bcast", "intra", [("chain", {})])).columns
    assert column.case_times["chain"].parameters == {}


def test_parts_are_cut_by_the_table() -> None:
    """Searching the segment size of an algorithm with parts would replace its broadcast."""
    assert searched_parameter(find("allgather", "root_gathering_best", "inter"), {}) is None
    assert searched_parameter(find("bcast", "binomial"), {}) is None


def test_long_schedules_are_predicted_from_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit finds the same size, with one evaluation above the limit."""
    binary, case = find("bcast", "binary"), Case(64, 1 << 20)
    evaluated: list[int] = []

    def seconds(tried: Case, limit: int | None) -> float | None:
        result = case_time(binary, tried, COST, max_messages=limit)
        if result.seconds is not None:
            evaluated.append(tried.parameters["segment_bytes"])
        return None if result.seconds is None else float(result.seconds)

    best = best_value("segment_bytes", case, 1 << 16, seconds)
    assert best == 1 << 14
    assert evaluated[-1] == 1 << 12  # two halvings without gain
    evaluated.clear()
    monkeypatch.setattr(search, "MAX_MESSAGES", 64 * 16)
    assert best_value("segment_bytes", case, 1 << 16, lambda tried, limit: seconds(tried, limit and 64 * 16)) == best
    assert evaluated == [1 << 20, 1 << 19, 1 << 18, 1 << 17, 1 << 16, 1 << 14]


@pytest.mark.parametrize("how", [{"measure": True}, {"timing": OSU}])
def test_emulated_times_use_the_size_that_the_schedule_suggests(how: dict[str, object]) -> None:
    """The code runs once, not once for each size."""
    job = TimingJob(find("bcast", "chain"), Case(8, 1 << 16), COST, key=("intra", "bcast"), search=True)
    assert job._replace(**how).run().parameters == job.run().parameters == {"segment_bytes": 4096}  # type: ignore[arg-type]


def test_sizes_are_written_as_they_are_typed() -> None:
    """In units of 1024 bytes where that is exact."""
    assert typed_parameters({"segment_bytes": 3 << 20, "k": 2048}) == "segment_bytes=3M,k=2048"
    assert typed_parameters({"segment_bytes": 1000}) == "segment_bytes=1000"
