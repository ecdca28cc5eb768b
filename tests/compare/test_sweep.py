"""Sweeps: claims and runs agree, nothing beats the lower bound, and the fastest is named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from collectives import CATALOGUE, Algorithm, Case
from collectives.distributions import regular
from collectives.trials.cases import PAIRED, UNEVEN, make_case
from fakempi import Free, Hockney
from fakempi.compare.bounds import lower_bound
from fakempi.compare.sweep import contenders, sweep
from fakempi.compare.timing import Figure, figure

EXACT = Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)
RINGS = contenders("allgather", "intra", [("ring", {}), ("bruck", {})])
FREE_TO_COMBINE = Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


def spike(total: int, p: int) -> tuple[int, ...]:
    """Rank 0 has all but what one other has."""
    return (total - total // 3, *(0,) * (p - 2), total // 3) if p > 1 else (total,)


def every(algorithm: Algorithm) -> str:
    return f"{algorithm.kind}-{algorithm.operation}-{algorithm.name}"


@pytest.mark.parametrize("algorithm", [each for each in CATALOGUE if each.kind in ("intra", "inter")], ids=every)
@pytest.mark.parametrize("nbytes", [0, 12])
def test_every_algorithm_can_be_compared_and_none_beats_the_bound(algorithm: Algorithm, nbytes: int) -> None:
    """By its claim and by a run, which are equal; regular and not."""
    ranks = [(2, 0), (3, 0), (4, 0), (6, 0)] if algorithm.kind == "intra" else [(4, 2), (3, 3), (2, 6)]
    uneven = algorithm.operation in (*UNEVEN, *PAIRED)
    for p, q in ranks:
        for spread in [regular, spike] if uneven else [regular]:
            case = make_case(algorithm.operation, p, q, nbytes, spread)
            if "first" in algorithm.parameters:
                case = replace(case, parameters={"first": True})
            found = figure(algorithm, case, EXACT, measure=True)
            if found.refused:
                continue
            assert found.claimed is None or found.claimed == found.measured
            assert found.measured >= lower_bound(algorithm.operation, case, 8.0, 0.5)
            assert figure(algorithm, case, FREE_TO_COMBINE).seconds >= lower_bound(algorithm.operation, case, 8.0, 0.5)


def test_a_sweep_names_the_best_and_says_why_others_were_left_out() -> None:
    """Latency decides for small messages, bandwidth for large ones."""
    made = sweep("bcast", [(6, 0)], [8, 2**20], cost=Hockney(eager_limit=0))
    small, large = made.columns
    assert "binomial" in small.best
    assert "binomial" not in large.best
    assert small.refused == {"scatter_recursive_doubling_allgather": "p = 6 is not a power of two"}
    assert all(time >= column.bound for column in made.columns for time in column.times.values())


def test_other_models_are_run_and_have_no_bound() -> None:
    """Claims hold for the single-port model alone."""
    (column,) = sweep("allgather", [(4, 0)], [64], cost=Free(), among=RINGS).columns
    assert dict(column.times) == {"ring": 0, "bruck": 0}
    assert column.best == ["ring", "bruck"]
    assert column.bound is None
    buffered: Any = sweep("allgather", [(4, 0)], [64], cost=Hockney(t_s=1, t_w=0), among=RINGS[:1]).columns[0]
    assert buffered.times == {"ring": 3}
    assert buffered.bound == 2


def test_two_groups_are_compared_too() -> None:
    """Kang et al.'s algorithms, with as many bytes on either side."""
    made = sweep("allgather", [(6, 2)], [16], cost=EXACT, kind="inter")
    (column,) = made.columns
    assert (column.p, column.q) == (6, 2)
    assert "full_duplex" in column.times
    assert min(column.times.values()) >= column.bound > 0


def test_splits_are_compared_by_running_them() -> None:
    """What they send depends on colours and keys."""
    (column,) = sweep("split", [(6, 0)], [0], cost=EXACT, kind="split").columns
    assert {"bitonic", "allgather_mpi"} <= set(column.times)
    assert all(time > 0 for time in column.times.values())
    assert column.bound is None


def test_what_is_not_there_is_told() -> None:
    """With what there is."""
    with pytest.raises(ValueError, match="allgather: there is no algorithm 'rnig'; there are bruck, "):
        contenders("allgather", "intra", [("rnig", {})])
    with pytest.raises(ValueError, match="chain has no parameter 'segment'; there is segment_bytes;"):
        contenders("bcast", "intra", [("chain", {"segment": 1})])


def test_parameters_make_contenders_of_their_own() -> None:
    """Numbers, and algorithms by name."""
    asked: Any = [("chain", {"segment_bytes": 64}), ("chain", {}), ("binomial", {})]
    (column,) = sweep("bcast", [(8, 0)], [4096], cost=EXACT, among=contenders("bcast", "intra", asked)).columns
    assert list(column.times) == ["chain(segment_bytes=64)", "chain", "binomial"]
    assert column.best == ["chain(segment_bytes=64)"]
    made = contenders("allgather", "intra", [("gather_bcast", {"bcast": "chain"})])
    assert made[0].parameters["bcast"].name == "chain"


def test_whoever_listens_hears_what_is_timed_next() -> None:
    """For a progress line: every algorithm in every column, in order."""
    heard: list[tuple[str, int]] = []

    def hear(label: str, case: Case) -> None:
        heard.append((label, case.p))

    sweep("allgather", [2, 3], [8], cost=EXACT, among=RINGS, tell=hear)
    assert heard == [("ring", 2), ("bruck", 2), ("ring", 3), ("bruck", 3)]


def test_every_figure_says_whether_it_is_claimed_or_measured() -> None:
    """Claims hold for the papers' model alone; what is measured on request has both."""
    (claimed,) = sweep("allgather", [4], [8], cost=EXACT, among=RINGS[:1]).columns
    assert claimed.figures == {"ring": Figure(claimed=36.0)}
    assert (claimed.figures["ring"].how, claimed.figures["ring"].differ) == ("claimed", None)
    (both,) = sweep("allgather", [4], [8], cost=EXACT, among=RINGS[:1], measure=True).columns
    assert both.figures == {"ring": Figure(36.0, 36.0)}
    assert (both.figures["ring"].how, both.figures["ring"].differ) == ("measured", False)
    (buffered,) = sweep("allgather", [4], [8], cost=Hockney(8.0, 0.5), among=RINGS[:1]).columns
    assert buffered.figures == {"ring": Figure(measured=36.0)}
    assert Figure(refused="p is odd").how == ""


@pytest.mark.parametrize(
    ("claimed", "measured", "differ"),
    [(1.0, 1.0 + 1e-12, False), (0, 0, False), (Fraction(1, 3), 1 / 3, False), (1.0, 1.000001, True), (0, 1e-9, True)],
)
def test_figures_differ_by_more_than_rounding(claimed: Any, measured: Any, differ: bool) -> None:
    """A run adds up what a claim multiplies."""
    assert Figure(claimed, measured).differ is differ


def test_ones_own_counts_are_compared() -> None:
    """By name; the size is that of a block on average."""
    among = contenders("allgatherv", "intra", [("ring", {})])
    made = sweep("allgatherv", cost=EXACT, counts=("mine.txt", [[4, 0, 9]]), among=among, measure=True)
    (column,) = made.columns
    assert (made.distribution, column.p, column.nbytes) == ("mine.txt", 3, 4)
    assert column.figures == {"ring": Figure(25.0, 25.0)}  # nobody sends what is empty: 8 + 4.5, twice
    made = sweep("allgatherv", cost=EXACT, counts=("mine.txt", [[1], [2, 3]]), kind="inter")
    assert (made.columns[0].p, made.columns[0].q) == (1, 2)
    with pytest.raises(ValueError, match="^bcast has blocks of one size: counts are for gatherv, "):
        sweep("bcast", cost=EXACT, counts=("mine.txt", [[1]]))
