"""Sweeps: claims and runs agree, no time is below the lower bound, and the fastest algorithm is named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from collectives import CATALOGUE, Algorithm, Case
from collectives.distributions import regular
from collectives.trials.cases import PAIRED, UNEVEN, make_case
from fakempi import Hockney, ZeroCost
from fakempi.apps.compare.bounds import lower_bound
from fakempi.apps.compare.sweep import contenders, sweep
from fakempi.apps.compare.timing import CaseTime, case_time
from tests.helpers.loops import for_each

EXACT = Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)
RINGS = contenders("allgather", "intra", [("ring", {}), ("bruck", {})])
FREE_TO_COMBINE = Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


def spike(total: int, p: int) -> tuple[int, ...]:
    """Rank 0 has everything except the data of one other rank."""
    return (total - total // 3, *(0,) * (p - 2), total // 3) if p > 1 else (total,)


@pytest.mark.sample
@pytest.mark.slow
@for_each("algorithm", [each for each in CATALOGUE if each.kind in ("intra", "inter")])
@for_each("nbytes", [0, 12])
def test_every_algorithm_can_be_compared_and_none_is_below_the_bound(algorithm: Algorithm, nbytes: int) -> None:
    """The claim and the run are equal, for equal and unequal block sizes."""
    ranks = [(2, 0), (3, 0), (4, 0)] if algorithm.kind == "intra" else [(3, 3), (2, 6)]
    uneven = algorithm.operation in (*UNEVEN, *PAIRED)
    for p, q in ranks:
        for spread in [regular, spike] if uneven else [regular]:
            case = make_case(algorithm.operation, p, q, nbytes, spread)
            if "first" in algorithm.parameters:
                case = replace(case, parameters={"first": True})
            found, bound = case_time(algorithm, case, EXACT, measure=True), lower_bound(algorithm.operation, case, 8.0, 0.5)
            if found.refused:
                continue
            assert found.claimed is None or found.claimed == found.emulated
            for result in (found, case_time(algorithm, case, FREE_TO_COMBINE)):
                assert result.seconds is not None
                assert result.seconds >= bound


def test_a_sweep_names_the_best_and_the_reasons_for_rejected_ones() -> None:
    """Latency decides for small messages, bandwidth for large ones."""
    made = sweep("bcast", [(6, 0)], [8, 2**20], cost=Hockney(eager_limit=0))
    small, large = made.columns
    assert "binomial" in small.best
    assert "binomial" not in large.best
    assert small.refused == {}
    assert all(time >= (column.bound or 1) for column in made.columns for time in column.times.values())


def test_other_models_are_run_and_have_no_bound() -> None:
    """Claims hold for the single-port model only."""
    (column,) = sweep("allgather", [(4, 0)], [64], cost=ZeroCost(), among=RINGS).columns
    assert dict(column.times) == {"ring": 0, "bruck": 0}
    assert column.best == ["ring", "bruck"]
    assert column.bound is None
    buffered: Any = sweep("allgather", [(4, 0)], [64], cost=Hockney(t_s=1, t_w=0), among=RINGS[:1]).columns[0]
    assert buffered.times == {"ring": 3}
    assert buffered.bound == 2


def test_two_groups_are_compared_too() -> None:
    """Kang et al.'s algorithms, with equal numbers of bytes on both sides."""
    made = sweep("allgather", [(6, 2)], [16], cost=EXACT, kind="inter")
    (column,) = made.columns
    assert (column.p, column.q) == (6, 2)
    assert "full_duplex" in column.times
    assert min(column.times.values()) >= (column.bound or 0) > 0


def test_splits_are_compared_by_running_them() -> None:
    """Their messages depend on colors and keys."""
    (column,) = sweep("split", [(6, 0)], [0], cost=EXACT, kind="split").columns
    assert {"bitonic", "allgather_mpi"} <= set(column.times)
    assert all(time > 0 for time in column.times.values())
    assert column.bound is None


def test_unknown_names_are_reported() -> None:
    """With the names that exist."""
    with pytest.raises(ValueError, match="allgather: there is no algorithm 'rnig'; there are bine, bruck, "):
        contenders("allgather", "intra", [("rnig", {})])
    with pytest.raises(ValueError, match="chain has no parameter 'segment'; there is segment_bytes;"):
        contenders("bcast", "intra", [("chain", {"segment": 1})])


def test_parameters_make_separate_entries() -> None:
    """Parameters are numbers, or algorithms by name."""
    requested: Any = [("chain", {"segment_bytes": 64}), ("chain", {}), ("binomial", {})]
    (column,) = sweep("bcast", [(8, 0)], [4096], cost=EXACT, among=contenders("bcast", "intra", requested)).columns
    assert list(column.times) == ["chain(segment_bytes=64)", "chain", "binomial"]
    assert column.best == ["chain(segment_bytes=64)"]
    made = contenders("allgather", "intra", [("gather_bcast", {"bcast": "chain"})])
    assert made[0].parameters["bcast"].name == "chain"


def test_a_listener_gets_every_job_before_it_starts() -> None:
    """For a progress line: every algorithm in every column, in order."""
    heard: list[tuple[str, int]] = []

    def hear(label: str, case: Case) -> None:
        heard.append((label, case.p))

    sweep("allgather", [2, 3], [8], cost=EXACT, among=RINGS, report=hear)
    assert heard == [("ring", 2), ("bruck", 2), ("ring", 3), ("bruck", 3)]


def test_every_time_is_marked_as_claimed_or_emulated() -> None:
    """Claims hold for the papers' model only; times emulated on request have both."""
    (claimed,) = sweep("allgather", [4], [8], cost=EXACT, among=RINGS[:1]).columns
    assert claimed.case_times == {"ring": CaseTime(claimed=36.0)}
    assert (claimed.case_times["ring"].how, claimed.case_times["ring"].differ) == ("claimed", None)
    (both,) = sweep("allgather", [4], [8], cost=EXACT, among=RINGS[:1], measure=True).columns
    assert both.case_times == {"ring": CaseTime(36.0, 36.0)}
    assert (both.case_times["ring"].how, both.case_times["ring"].differ) == ("emulated", False)
    (buffered,) = sweep("allgather", [4], [8], cost=Hockney(8.0, 0.5), among=RINGS[:1]).columns
    assert buffered.case_times == {"ring": CaseTime(emulated=36.0)}
    assert CaseTime(refused="p is odd").how == ""


@pytest.mark.parametrize(
    ("claimed", "emulated", "differ"),
    [(1.0, 1.0 + 1e-12, False), (0, 0, False), (Fraction(1, 3), 1 / 3, False), (1.0, 1.000001, True), (0, 1e-9, True)],
)
def test_figures_differ_by_more_than_rounding(claimed: Any, emulated: Any, differ: bool) -> None:
    """A run adds what a claim multiplies."""
    assert CaseTime(claimed, emulated).differ is differ


def test_custom_counts_are_compared() -> None:
    """By name; the size is the average of the blocks."""
    among = contenders("allgatherv", "intra", [("ring", {})])
    made = sweep("allgatherv", cost=EXACT, counts=("mine.txt", [[4, 0, 9]]), among=among, measure=True)
    (column,) = made.columns
    assert (made.distribution, column.p, column.nbytes) == ("mine.txt", 3, 4)
    assert column.case_times == {"ring": CaseTime(25.0, 25.0)}  # empty blocks are not sent: 8 + 4.5, twice
    made = sweep("allgatherv", cost=EXACT, counts=("mine.txt", [[1], [2, 3]]), kind="inter")
    assert (made.columns[0].p, made.columns[0].q) == (1, 2)
    with pytest.raises(ValueError, match="^bcast has equal blocks: counts are for gatherv, "):
        sweep("bcast", cost=EXACT, counts=("mine.txt", [[1]]))


def test_algorithms_without_a_schedule_are_skipped_at_half_the_number_of_messages() -> None:
    """Their code has to run, which takes about twice as long for a message."""
    among = contenders("alltoall", "intra", [("linear", {}), ("spread", {})])
    cost = Hockney(t_s=8.0, t_w=0.5, eager_limit=64)  # no claims hold
    for limit, skipped in ((111, [56, 0]), (112, [0, 0]), (55, [56, 56])):
        (column,) = sweep("alltoall", [8], (8,), cost=cost, among=among, max_messages=limit).columns
        assert [case_time.skipped for case_time in column.case_times.values()] == skipped


def test_reductions_have_elements_of_four_bytes_and_other_operations_of_one() -> None:
    """Messages are cut between elements."""
    ring = contenders("allreduce", "intra", [("ring", {})])
    floats = sweep("allreduce", [4], [8], cost=EXACT, among=ring)
    assert [(record["dtype"], record["itemsize"]) for record in floats] == [("float", 4)]
    chars = sweep("allreduce", [4], [8], cost=EXACT, among=ring, dtype="char")
    assert floats.columns[0].times["ring"] > chars.columns[0].times["ring"]  # two of four blocks are empty: longer messages
    moved = sweep("allgather", [4], [8], cost=EXACT, among=RINGS[:1])
    assert moved.elements == ("char", 1)


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter"])
def test_the_element_type_does_not_change_the_bytes(operation: str) -> None:
    """Blocks of different sizes are counted in elements."""
    among = contenders(operation, "intra", [("ring", {})])
    times = [sweep(operation, [4], [64], cost=EXACT, among=among, dtype=dtype).columns[0] for dtype in ("char", "double")]
    assert times[0].times == times[1].times
    assert times[0].bound == times[1].bound


def test_a_size_is_a_whole_number_of_elements() -> None:
    """The error names the type, which the user may not have chosen."""
    with pytest.raises(ValueError, match="^6 bytes is not a whole number of elements of 4 bytes. .* type is float: "):
        sweep("reduce", [4], [8, 6], cost=EXACT)
    with pytest.raises(ValueError, match="a block of 9 bytes is not a whole number of elements of 8 bytes"):
        sweep("allgatherv", cost=EXACT, counts=("mine.txt", [[8, 9]]), dtype="double")
    with pytest.raises(ValueError, match="element type 'dubble' is unknown. Did you mean double?"):
        sweep("bcast", [4], [8], cost=EXACT, dtype="dubble")
    with pytest.raises(ValueError, match="element type 'dubble' is unknown"):
        sweep("barrier", [4], cost=EXACT, dtype="dubble")
