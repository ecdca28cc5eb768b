"""A wildcard receive that could have had another message is noted, and one that could not have is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

COSTS = [fakempi.Hockney(), fakempi.Hockney(eager_limit=0), fakempi.Free(), fakempi.LogGP(1e-6, 1e-6, 1e-6, 1e-9)]


def gathers(comm: MPI.Comm) -> None:
    """Rank 0 takes what comes."""
    if comm.Get_rank() == 0:
        for _ in range(comm.Get_size() - 1):
            comm.recv()
    else:
        comm.send(1, 0)


def gathers_late(comm: MPI.Comm) -> None:
    """Rank 0 takes what has come long since."""
    if comm.Get_rank() == 0:
        fakempi.compute(1.0)
    gathers(comm)


def posts_all(comm: MPI.Comm) -> None:
    """Rank 0 has receives for all before anything comes."""
    if comm.Get_rank() == 0:
        MPI.Request.waitall([comm.irecv() for _ in range(comm.Get_size() - 1)])
    else:
        comm.send(1, 0)


def asks_each(comm: MPI.Comm) -> None:
    """Rank 0 asks one rank at a time: there is never another message, wildcard or not."""
    if comm.Get_rank() == 0:
        for rank in range(1, comm.Get_size()):
            comm.send(None, rank)
            comm.recv()
    else:
        comm.recv(source=0)
        comm.send(1, 0)


def by_tag(comm: MPI.Comm) -> None:
    """From anybody, but with a tag that only one rank sends."""
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
    """What is noted, in words without places."""
    return [f"{one.who} {one.call}: {one.sentence}" for one in fakempi.run(main, size, **options).findings]


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@pytest.mark.parametrize("cost", COSTS, ids=repr)
@pytest.mark.parametrize("main", [gathers, gathers_late])
@pytest.mark.parametrize("size", [3, 5])
def test_a_race_is_noted_whatever_messages_cost(main: Any, size: int, cost: Any, carrier: str) -> None:
    """All who sent something for the receive are named."""
    (note,) = fakempi.run(main, size, cost=cost, carrier=carrier).findings
    assert (note.kind, note.note, note.ranks, note.call) == ("wildcard-race", True, (0,), "recv")
    assert note.place.startswith("test_races.py:")
    assert "have sent what it could take, and which comes first is not certain" in note.sentence


@given(st.integers(1, 9), st.sampled_from([asks_each, by_tag, any_tag]), st.sampled_from(COSTS))
def test_what_cannot_come_is_no_candidate(size: int, main: Any, cost: Any) -> None:
    """Another tag, another source, or a message that was sent only after this rank had told somebody."""
    assert notes(main, size, cost=cost) == []


@pytest.mark.parametrize("main", [gathers, gathers_late, posts_all])
def test_one_sender_races_with_nobody(main: Any) -> None:
    """Two ranks are too few."""
    assert notes(main, 2) == notes(main, 1) == []


def test_a_note_is_no_failure_in_a_strict_run() -> None:
    """Many races are intended."""
    assert fakempi.run(gathers, 4, strict=True).findings[0].note


def test_a_million_are_one_note_and_soon_nobody_looks() -> None:
    """Notes are folded, and to find them takes time."""
    (note,) = fakempi.run(gathers_late, 400).findings
    assert note.times == 16
