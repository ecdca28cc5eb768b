"""The timeline by calls of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fakempi
from fakempi import Hockney, phantom
from fakempi.view.calls import by_call
from tests.view import runs


def phases(comm: Any) -> None:
    """Three calls that start with the same letter or another, one after the other, and a region."""
    fakempi.compute(2)
    with fakempi.region("halo"):
        comm.Sendrecv(phantom(3), 1 - comm.rank, 0, phantom(3), 1 - comm.rank, 0)
    if comm.rank == 0:
        comm.Send(phantom(4), 1)
    else:
        comm.Recv(phantom(4), 0)
    fakempi.compute(1.0 * comm.rank)


def test_phases_are_shown_as_letters(printed: Callable[..., str]) -> None:
    """Each call or region by its own letter, with a legend; idle is a dot."""
    trace = runs.traced(phases, 2, Hockney(0, 1))
    lines = printed(by_call(trace, width=45)).splitlines()
    assert lines[1] == "   0 cccccccchhhhhhhhhhhhSSSSSSSSSSSSSSSS····"
    assert lines[2] == "   1 cccccccchhhhhhhhhhhhRRRRRRRRRRRRRRRRcccc"
    assert "h halo 30%" in " ".join(lines[4:])
    assert lines[-1].endswith("· idle")


def test_it_fits_the_width() -> None:
    """Also with many names."""
    for width in (80, 120):
        text = by_call(runs.work(), width=width).plain
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_run_without_messages_has_a_timeline() -> None:
    """With dots only."""
    assert "·" in by_call(runs.traced(lambda comm: None, 2), width=40).plain
