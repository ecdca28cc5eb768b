"""Comparisons of algorithms for a recording: the best algorithm at a call site, and what the application gains."""

from __future__ import annotations

import pytest

import fakempi
from fakempi.apps.compare import simulation
from fakempi.apps.replay.candidates import candidates
from fakempi.apps.replay.comparing import MOST_SITES, TRIED, MachineComparison, compare, replays
from fakempi.apps.replay.engine import replay
from fakempi.recordings.recording import Recording, RecordingBuilder
from fakempi.tuning import TABLES

T_S, T_W = 2.0**-20, 2.0**-30
COST = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0)


def recording_of(*calls: tuple[str, int, str], p: int = 8) -> Recording:
    """A recording of collective calls: operation, bytes and call site."""
    builder = RecordingBuilder(p, "calls")
    for rank in range(p):
        for operation, nbytes, site in calls:
            builder.rank(rank).collective(operation, 0, nbytes, itemsize=8, site=site)
    return builder.finish()


def compared(recording: Recording, algorithms: object = None) -> MachineComparison:
    """The comparison on the machine of this module."""
    return compare(recording, "machine", COST, algorithms, scale=1.0, report=lambda name: None)


def test_the_gain_of_a_call_site_is_that_of_the_application() -> None:
    """A linear broadcast of 7 messages is worse than a tree of 3; the other call site is as it is."""
    recording = recording_of(("bcast", 8, "a.py:1"), ("allreduce", 8, "a.py:2"))
    result = compared(recording, {"bcast": "linear"})
    by_site = {choice.site.site: choice for choice in result.sites}
    name, time = by_site["a.py:1"].best()
    assert by_site["a.py:1"].now == "linear"
    assert result.baseline.seconds - time == pytest.approx(4 * (T_S + 8 * T_W), rel=0.02)
    assert time == replay(recording, COST, {"bcast": name}).seconds
    assert by_site["a.py:2"].best()[1] >= result.baseline.seconds
    assert result.best == time


def test_two_call_sites_gain_more_than_one() -> None:
    """Together they are better than each alone."""
    recording = recording_of(("bcast", 1 << 14, "a.py:1"), ("bcast", 1 << 17, "a.py:2"))
    result = compared(recording, {"bcast": "linear"})
    assert result.combined < min(choice.best()[1] for choice in result.sites) < result.baseline.seconds
    assert result.best == result.combined


def test_tables_of_libraries_are_compared() -> None:
    """The default is the baseline."""
    recording = recording_of(("allgather", 64, "a.py:1"))
    result = compared(recording)
    assert set(result.tables) == set(TABLES)
    assert result.tables["plain"] == result.baseline.seconds
    assert result.tables["mpich"] == replay(recording, COST, "mpich").seconds


def test_an_algorithm_that_does_not_fit_a_call_is_not_used_there() -> None:
    """Reductions that are not commutative keep an algorithm that has the order of the ranks."""
    builder = RecordingBuilder(5, "order")
    for rank in range(5):
        builder.rank(rank).collective("allreduce", 0, 1 << 20, itemsize=8, commutative=rank < 0, site="a.py:1")
    [choice] = compared(builder.finish()).sites
    assert choice.tried
    assert "ring" not in choice.tried


def test_candidates_are_in_the_order_of_their_times() -> None:
    """All that fit, the fastest first."""
    [site] = replay(recording_of(("bcast", 8, "a.py:1")), COST).sites
    found = candidates(site, COST)
    assert [time for time, _ in found] == sorted(time for time, _ in found)
    assert {"linear", "binomial"} <= {algorithm.name for _, algorithm in found}


def test_an_algorithm_with_too_many_messages_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its simulation would take all memory."""
    [site] = replay(recording_of(("allgather", 8, "a.py:1")), COST).sites
    machine = fakempi.TwoLevel(4)
    known = {algorithm.name for _, algorithm in candidates(site, machine)}
    monkeypatch.setattr(simulation.simulated_makespan, "__defaults__", (30,))
    assert "ring" in known - {algorithm.name for _, algorithm in candidates(site, machine)}


@pytest.mark.parametrize("name", ["gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter", "barrier"])
def test_every_kind_of_call_has_candidates(name: str) -> None:
    """Also calls with counts, of which some ranks know their own only."""
    builder, counts = RecordingBuilder(4, name), [8, 0, 24, 16]
    for rank in range(4):
        given = {"allgatherv": counts, "reduce_scatter": counts, "alltoallv": [counts[rank]] * 4 + counts}.get(name, [])
        if name in ("gatherv", "scatterv") and rank == 0:
            given = counts
        nbytes = 0 if name == "barrier" else counts[rank]
        builder.rank(rank).collective(name, 0, nbytes, counts=given, itemsize=8)
    result = compared(builder.finish())
    assert result.best <= result.baseline.seconds
    [choice] = result.sites
    names = {algorithm.name for _, algorithm in candidates(choice.site, COST)}
    assert names == {choice.now} if name in ("gatherv", "scatterv") else choice.tried.keys() < names


def test_the_number_of_replays_is_bounded() -> None:
    """Whatever the number of call sites."""
    recording, names = recording_of(*(("bcast", 8, f"a.py:{line}") for line in range(20)), p=2), list[str]()
    compare(recording, "machine", COST, None, scale=1.0, report=names.append)
    assert len(names) <= replays(20) == 2 + len(TABLES) + TRIED * MOST_SITES


def test_a_recording_without_collective_calls_has_nothing_to_compare() -> None:
    """No call sites, and equal times."""
    builder = RecordingBuilder(2, "none")
    builder.rank(0).compute(1.0)
    result = compared(builder.finish())
    assert (list(result.sites), result.best) == ([], 1.0)
    assert set(result.tables.values()) == {1.0}
