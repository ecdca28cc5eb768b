"""Views of a trace: output at a fixed width, and errors."""

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
from tests.helpers.loops import for_each
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


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_equals_its_stored_output(name: str, golden: Any) -> None:
    """In the file next to this one."""
    golden(VIEWS[name](80), name)


@pytest.mark.sample
@pytest.mark.slow
@for_each("width", [80, 110, 160])
@for_each("name", VIEWS)
def test_no_view_exceeds_its_width(name: str, width: int) -> None:
    """From 80 columns on; a longer line would be wrapped."""
    view = VIEWS[name](width)
    for text in view.renderables if isinstance(view, Group) else [view]:
        assert isinstance(text, Text)
        assert max(len(line.rstrip()) for line in text.plain.splitlines()) <= width


def test_a_summary_shows_how_much_ranks_differ(printed: Callable[..., str]) -> None:
    """If all are equal, one number suffices."""

    def main(comm: Any) -> None:
        fakempi.compute(1.0 - comm.rank)

    lines = printed(summary(runs.traced(main, 2))).splitlines()
    assert lines[10].endswith(" 0%")
    assert lines[11].endswith(" 0%-100%")
    assert lines[12].endswith(" 0%-100%")


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_same_text_without_color(name: str) -> None:
    """Colors do not change characters."""
    texts = []
    for options in ({"force_terminal": True, "color_system": "standard"}, {"no_color": True}):
        console = Console(file=StringIO(), width=80, record=True, **options)
        console.print(VIEWS[name](80))
        texts.append(console.export_text())
    assert texts[0] == texts[1]


def test_holdings_equal_those_of_the_algorithm() -> None:
    """After round k of a ring every rank has the k blocks before its own; after round k of Bruck's, 2^k from its own on."""
    p = 8
    for k, after in enumerate(holdings(runs.allgather("ring", p))):
        assert after == [sum(1 << (rank - i) % p for i in range(k + 1)) for rank in range(p)]
    for k, after in enumerate(holdings(runs.allgather("bruck", p))):
        assert after == [sum(1 << (rank + i) % p for i in range(2**k)) for rank in range(p)]


@given(st.integers(1, 12), st.sampled_from(["ring", "bruck"]))
def test_at_the_end_every_rank_can_hold_all_blocks(ranks: int, name: str) -> None:
    """It was an allgather."""
    assert set(list(holdings(runs.allgather(name, ranks)))[-1]) == {(1 << ranks) - 1}


def test_messages_move_from_frame_to_frame() -> None:
    """The head of a message moves right each time, until it arrives."""

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
    assert "1/1 arrived (100 B)" in film[4]
    assert steps(trace) == [0, 100]


def test_a_run_without_waits_reports_it() -> None:
    """Instead of an empty table."""
    assert wait_states(runs.allgather("ring", 4)).plain.endswith("No rank was idle.")


def test_views_of_minimal_runs() -> None:
    """One rank, no message, no time."""
    trace = runs.traced(lambda comm: None, 1)
    for view in (matrix, blocks, critical_path, wait_states, summary):
        assert view(trace).plain
    assert frame(trace, 0).plain
    assert compare(trace, trace)


def test_invalid_arguments_are_rejected() -> None:
    """With the numbers that clash."""
    trace = runs.allgather("ring", 4)
    with pytest.raises(TraceError, match=r"^matrix: what is 'joy'; it must be 'bytes' or 'messages'\.$"):
        matrix(trace, what="joy")
    with pytest.raises(TraceError, match=r"^matrix: ranks -1 to 2 were selected, but the trace has ranks 0 to 3\.$"):
        matrix(trace, ranks=[-1, 2])
    with pytest.raises(TraceError, match=r"^replay: no ranks were selected, but the trace has ranks 0 to 3\.$"):
        frame(trace, 0, ranks=[])
    with pytest.raises(TraceError, match=r"^blocks: 9 columns are too few; the minimum is 17\.$"):
        blocks(trace, width=9)
    with pytest.raises(TraceError, match=r"^replay: 1 s is outside the run, which ends at 5\.4 µs\.$"):
        frame(trace, 1)
    with pytest.raises(TraceError, match=r"^replay: 30 columns are too few; the minimum is 40\.$"):
        frame(trace, 0, width=30)


def test_views_can_be_exported() -> None:
    """As a picture with the same text."""
    svg = to_svg(summary(runs.allgather("ring", 4), title="Ring of four"), title="a title")
    assert svg.startswith("<svg")
    assert "a title" in svg
    assert "messages" in svg
    assert "font-face" not in svg
    assert svg.count("://") == 1  # the namespace of SVG


def test_a_trace_has_show(tmp_path: Path) -> None:
    """From a run, and from a file, also one that was read below the views."""
    trace: Trace = runs.work()
    trace.save(tmp_path / "t.npz")
    texts = []
    for one in (trace, fakempi.load(tmp_path / "t.npz"), load_record(tmp_path / "t.npz")):
        console = Console(file=StringIO(), width=80, record=True)
        one.show(console=console)
        texts.append(console.export_text())
    assert texts[0] == texts[1] == texts[2]
    for words in ("Summary", "communicating", "Wait states"):
        assert words in texts[0]


def test_blocks_of_very_many_ranks_are_rejected() -> None:
    """Every rank may hold the blocks of all, which for three million ranks would be a terabyte."""
    trace = runs.allgather("ring", 2)
    trace.clocks = [0.0] * 3_000_000
    with pytest.raises(TraceError, match=r"^blocks: 3,000,000 ranks are too many; the maximum is 16,384\.$"):
        blocks(trace)
