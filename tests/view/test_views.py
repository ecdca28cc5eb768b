"""Views of a trace: what each looks like at a fixed width, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, Group
from rich.text import Text

import fakempi
from fakempi import Hockney, TraceError, phantom
from fakempi.trace.record import Trace
from fakempi.trace.record import load as load_record
from fakempi.view.blocks import blocks, holdings
from fakempi.view.critical import critical_path
from fakempi.view.export import to_svg
from fakempi.view.matrix import matrix
from fakempi.view.replay import frame, frames, steps
from fakempi.view.summary import compare, summary
from fakempi.view.waits import wait_states
from tests.view import runs

VIEWS: dict[str, Callable[..., Any]] = {
    "matrix": lambda width: matrix(runs.allgather("bruck", 8), width=width, title="Bruck"),
    "matrix_folded": lambda width: matrix(runs.allgather("ring", 64), what="messages", width=width, height=16),
    "blocks": lambda width: blocks(runs.allgather("ring", 7), width=width, title="Ring"),
    "blocks_many": lambda width: blocks(runs.allgather("bruck", 40), width=width),
    "critical": lambda width: critical_path(runs.work(), width=width, steps=8),
    "waits": lambda width: wait_states(runs.work(), width=width),
    "summary": lambda width: summary(runs.work(), width=width),
    "compare": lambda width: compare(
        runs.allgather("ring", 8), runs.allgather("bruck", 8), titles=("ring", "bruck"), width=width
    ),
    "replay": lambda width: frame(runs.allgather("bruck", 6), 2.9e-6, width=width, height=16),
    "replay_folded": lambda width: frame(runs.allgather("ring", 200), 1e-5, width=width, height=8),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_looks_like_this(name: str, golden: Any) -> None:
    """The file beside this one is what it prints."""
    golden(VIEWS[name](80), name)


@pytest.mark.parametrize("width", [80, 110, 160])
@pytest.mark.parametrize("name", VIEWS)
def test_no_view_is_wider_than_it_may_be(name: str, width: int) -> None:
    """From 80 columns on; a line that were wider would be broken in two."""
    view = VIEWS[name](width)
    for text in view.renderables if isinstance(view, Group) else [view]:
        assert isinstance(text, Text)
        assert max(len(line.rstrip()) for line in text.plain.splitlines()) <= width


def test_a_summary_says_how_much_ranks_differ(printed: Callable[..., str]) -> None:
    """Where all are alike, one number says it."""

    def main(comm: Any) -> None:
        fakempi.compute(1.0 - comm.rank)

    lines = printed(summary(runs.traced(main, 2))).splitlines()
    assert lines[10].endswith(" 0%")
    assert lines[11].endswith(" 0%-100%")
    assert lines[12].endswith(" 0%-100%")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_says_the_same_without_colour(name: str) -> None:
    """Colours are put on characters, and change none."""
    texts = []
    for options in ({"force_terminal": True, "color_system": "standard"}, {"no_color": True}):
        console = Console(file=StringIO(), width=80, record=True, **options)
        console.print(VIEWS[name](80))
        texts.append(console.export_text())
    assert texts[0] == texts[1]


def test_holdings_are_those_of_the_algorithm() -> None:
    """After round k of a ring every rank has the k before it; after round k of Bruck's, 2^k from itself on."""
    p = 8
    for k, after in enumerate(holdings(runs.allgather("ring", p))):
        assert after == [sum(1 << (rank - i) % p for i in range(k + 1)) for rank in range(p)]
    for k, after in enumerate(holdings(runs.allgather("bruck", p))):
        assert after == [sum(1 << (rank + i) % p for i in range(2**k)) for rank in range(p)]


@given(st.integers(1, 12), st.sampled_from(["ring", "bruck"]))
def test_in_the_end_everybody_can_hold_everything(ranks: int, name: str) -> None:
    """It was an allgather."""
    assert set(list(holdings(runs.allgather(name, ranks)))[-1]) == {(1 << ranks) - 1}


def test_messages_travel_from_frame_to_frame() -> None:
    """The head of a message is further right each time, until it is there."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Recv(phantom(100), 0)
        else:
            comm.Send(phantom(100), 1)

    trace = runs.traced(main, 2, Hockney(0, 1))
    film = [picture.plain for picture in frames(trace, 5)]
    heads = [min((line.find("0→1") for line in picture.splitlines() if "0→1" in line), default=-1) for picture in film]
    assert heads[:4] == sorted(heads[:4])
    assert (heads[0] >= 0, heads[4]) == (True, -1)
    assert "1 of 1 there (100 B)" in film[4]
    assert steps(trace) == [0, 100]


def test_a_run_in_which_nobody_waits_says_so() -> None:
    """Instead of an empty table."""
    assert wait_states(runs.allgather("ring", 4)).plain.endswith("No rank was ever idle.")


def test_views_of_next_to_nothing() -> None:
    """One rank, no message, no time."""
    trace = runs.traced(lambda comm: None, 1)
    for view in (matrix, blocks, critical_path, wait_states, summary):
        assert view(trace).plain
    assert frame(trace, 0).plain
    assert compare(trace, trace)


def test_what_cannot_be_drawn_is_refused() -> None:
    """With the numbers that clash."""
    trace = runs.allgather("ring", 4)
    with pytest.raises(TraceError, match=r"^matrix: what is 'joy'; there are 'bytes' and 'messages'\.$"):
        matrix(trace, what="joy")
    with pytest.raises(TraceError, match=r"^matrix: ranks -1 to 2 were asked for, but the trace has ranks 0 to 3\.$"):
        matrix(trace, ranks=[-1, 2])
    with pytest.raises(TraceError, match=r"^replay: no ranks were asked for, but the trace has ranks 0 to 3\.$"):
        frame(trace, 0, ranks=[])
    with pytest.raises(TraceError, match=r"^blocks: 9 columns are too few; there must be at least 17\.$"):
        blocks(trace, width=9)
    with pytest.raises(TraceError, match=r"^replay: 1 s is not in the run, which ends at 5\.4 µs\.$"):
        frame(trace, 1)
    with pytest.raises(TraceError, match=r"^replay: 30 columns are too few; there must be at least 40\.$"):
        frame(trace, 0, width=30)


def test_views_can_be_exported() -> None:
    """As a picture, with what they say in it."""
    svg = to_svg(summary(runs.allgather("ring", 4), title="Ring of four"), title="a title")
    assert svg.startswith("<svg")
    assert "a title" in svg
    assert "messages" in svg
    assert "font-face" not in svg
    assert svg.count("://") == 1  # the name of SVG itself


def test_a_trace_shows_itself(tmp_path: Path) -> None:
    """From a run, and from a file."""
    trace: Trace = runs.work()
    trace.save(tmp_path / "t.npz")
    told = []
    for one in (trace, fakempi.load(tmp_path / "t.npz")):
        console = Console(file=StringIO(), width=80, record=True)
        one.show(console=console)
        told.append(console.export_text())
    assert told[0] == told[1]
    for words in ("Summary", "communicating", "Wait states"):
        assert words in told[0]
    with pytest.raises(TraceError, match=r"^show: nobody draws this trace; fakempi\.load\(path\) gives one that can be"):
        load_record(tmp_path / "t.npz").show()


def test_blocks_of_very_many_ranks_are_refused() -> None:
    """Everybody may hold everybody's, which for three million ranks would be a terabyte."""
    trace = runs.allgather("ring", 2)
    trace.clocks = [0.0] * 3_000_000
    with pytest.raises(TraceError, match=r"^blocks: .* at most 16,384 ranks, and here are 3,000,000\.$"):
        blocks(trace)
