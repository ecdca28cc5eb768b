"""The note wildcard-race: reported for wildcard receives that could have matched another message, and only for these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each

COSTS = [fakempi.Hockney(), fakempi.Hockney(eager_limit=0), fakempi.ZeroCost(), fakempi.LogGP(1e-6, 1e-6, 1e-6, 1e-9)]


def gathers(comm: MPI.Comm) -> None:
    """Rank 0 receives from any source."""
    if comm.Get_rank() == 0:
        for _ in range(comm.Get_size() - 1):
            comm.recv()
    else:
        comm.send(1, 0)


def gathers_late(comm: MPI.Comm) -> None:
    """Rank 0 receives messages that arrived earlier."""
    if comm.Get_rank() == 0:
        fakempi.compute(1.0)
    gathers(comm)


def posts_all(comm: MPI.Comm) -> None:
    """Rank 0 posts all receives before any message arrives."""
    if comm.Get_rank() == 0:
        MPI.Request.waitall([comm.irecv() for _ in range(comm.Get_size() - 1)])
    else:
        comm.send(1, 0)


def requests_each(comm: MPI.Comm) -> None:
    """Rank 0 requests one message at a time: there is never another one, wildcard or not."""
    if comm.Get_rank() == 0:
        for rank in range(1, comm.Get_size()):
            comm.send(None, rank)
            comm.recv()
    else:
        comm.recv(source=0)
        comm.send(1, 0)


def by_tag(comm: MPI.Comm) -> None:
    """From any source, but with a tag that only one rank uses."""
    if comm.Get_rank() == 0:
        for rank in range(1, comm.Get_size()):
            comm.recv(tag=rank)
    else:
        comm.send(1, 0, tag=comm.Get_rank())


def any_tag(comm: MPI.Comm) -> None:
    """From one rank, with any tag: messages between two ranks keep their order."""
    if comm.Get_rank() == 0:
        for rank in range(1, comm.Get_size()):
            comm.recv(source=rank)
    else:
        comm.send(1, 0, tag=comm.Get_rank())


def notes(main: Callable[[Any], None], size: int, **options: Any) -> list[str]:
    """The notes, without places."""
    return [f"{one.rank_names} {one.call}: {one.sentence}" for one in fakempi.run(main, size, **options).findings]


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@for_each("cost", COSTS)
@for_each("main", [gathers, gathers_late])
@for_each("size", [3, 5])
def test_a_race_is_noted_for_any_cost_of_messages(main: Any, size: int, cost: Any, backend: Any) -> None:
    """All ranks that sent a matching message are named."""
    (note,) = fakempi.run(main, size, cost=cost, backend=backend).findings
    assert (note.kind, note.note, note.ranks, note.call) == ("wildcard-race", True, (0,), "recv")
    assert note.place.startswith("test_races.py:")
    assert "match this receive; their order is not guaranteed" in note.sentence


@given(st.integers(1, 9), st.sampled_from([requests_each, by_tag, any_tag]), st.sampled_from(COSTS))
def test_messages_that_cannot_match_are_no_candidates(size: int, main: Any, cost: Any) -> None:
    """Another tag, another source, or a message that depends on the receive."""
    assert notes(main, size, cost=cost) == []


@pytest.mark.parametrize("main", [gathers, gathers_late, posts_all])
def test_one_sender_has_no_race(main: Any) -> None:
    """With two ranks there is only one sender."""
    assert notes(main, 2) == notes(main, 1) == []


def test_a_note_is_no_failure_in_a_strict_run() -> None:
    """Many races are intended."""
    assert fakempi.run(gathers, 4, strict=True).findings[0].note


def test_a_million_races_are_one_note_and_the_search_stops() -> None:
    """Equal notes are merged, and after 16 races the search stops because it takes time."""
    (note,) = fakempi.run(gathers_late, 400).findings
    assert note.times == 16
