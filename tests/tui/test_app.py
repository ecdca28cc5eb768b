"""The viewer, driven by keys and mouse of textual's pilot, at 80 columns and 24 rows."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import fakempi
import fakempi.view.page.assemble
from fakempi import Hockney, phantom
from fakempi.apps.cli import main
from fakempi.trace.record import Trace

app = pytest.importorskip(
    "fakempi.apps.tui.app", reason="there is no textual: python -m pip install textual", exc_type=ImportError
)


def ring(comm: Any) -> None:
    """Each rank computes and sends 800 bytes to the next."""
    fakempi.compute(1e-6 * (1 + comm.rank % 3))
    comm.Sendrecv(phantom(800), (comm.rank + 1) % comm.size, 7, phantom(800), (comm.rank - 1) % comm.size, 7)
    comm.Barrier()


def traced(ranks: int = 8) -> Trace:
    """The trace of that program."""
    trace = fakempi.run(ring, ranks, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace
    assert trace is not None
    return trace


def with_pilot(trace: Trace, act: Callable[[Any, Any], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Start it, execute steps, and quit."""

    async def driven() -> None:
        viewer = app.TraceViewer(trace, "ring.npz")
        async with viewer.run_test(size=size) as pilot:
            await pilot.pause()
            await act(viewer, pilot)

    asyncio.run(driven())


def words(viewer: Any, name: str) -> str:
    """The text of a part of the screen."""
    return str(viewer.query_one(name).render())


async def settled(pilot: Any, holds: Callable[[], object]) -> None:
    """The screen reacts to a key after a while: wait until the condition holds, or fail after a limit."""
    for _ in range(500):
        if holds():
            return
        await pilot.pause(0.01)
    assert holds()


def test_the_whole_run_is_shown_at_first() -> None:
    """Times, ranks, a lane for each, and the item under the cursor."""

    async def act(viewer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: "ranks 0 to 7 of 8" in words(viewer, "#head"))
        assert words(viewer, "#head").startswith("ring.npz: 0 s to ")
        lines = words(viewer, "#timeline").splitlines()
        assert [line.split()[0] for line in lines[1:9]] == list("01234567")
        assert max(map(len, lines)) <= 80
        await settled(pilot, lambda: "rank 0 computes for 1 µs" in words(viewer, "#details"))
        assert "compute at test_app.py:" in words(viewer, "#details")
        assert "fakempi.compute(1e-6" in words(viewer, "#details")  # the line of the program

    with_pilot(traced(), act)


@pytest.mark.slow
def test_keys_zoom_move_fold_and_follow() -> None:
    """The message at the cursor is described, and Enter moves to its other end and back."""

    async def act(viewer: Any, pilot: Any) -> None:
        whole = viewer.timeline.viewport
        await pilot.press("plus")
        await settled(pilot, lambda: viewer.timeline.viewport.end < whole.end)
        await pilot.press("minus")
        await settled(pilot, lambda: viewer.timeline.viewport.end == pytest.approx(whole.end))
        await pilot.press("right_square_bracket")
        await settled(pilot, lambda: viewer.timeline.viewport.count == 4)
        await pilot.press("0", "down", "down", *["right"] * 34)
        await settled(pilot, lambda: viewer.at_cursor.message >= 0)
        await settled(pilot, lambda: "800 bytes, tag 7" in words(viewer, "#details"))
        await pilot.press("enter")
        await settled(pilot, lambda: viewer.timeline.viewport.rank in (1, 3))
        await pilot.press("enter")
        await settled(pilot, lambda: viewer.timeline.viewport.rank == 2)

    with_pilot(traced(), act)


def test_the_mouse_points_and_zooms() -> None:
    """A click moves the cursor to its lane."""

    async def act(viewer: Any, pilot: Any) -> None:
        await pilot.click("#timeline", offset=(40, 4))
        await settled(pilot, lambda: viewer.timeline.viewport.rank == 3)
        await settled(pilot, lambda: 0 < viewer.timeline.viewport.at < viewer.trace.time)

    with_pilot(traced(), act)


@pytest.mark.slow
def test_search_finds_ranks_and_words() -> None:
    """And reports if there is none."""

    async def act(viewer: Any, pilot: Any) -> None:
        await pilot.press("slash", "5", "enter")
        await settled(pilot, lambda: viewer.timeline.viewport.rank == 5)
        await pilot.press("slash", *"barrier", "enter")
        await settled(pilot, lambda: len(viewer.hits) > 1)
        first = viewer.timeline.viewport
        await pilot.press("n")
        await settled(pilot, lambda: viewer.timeline.viewport != first)
        await pilot.press("slash", *"joy", "enter")
        await settled(pilot, lambda: words(viewer, "#details") == "No call, file or region matches 'joy'.")

    with_pilot(traced(), act)


@pytest.mark.slow
def test_each_result_of_a_search_is_a_call_with_its_number_and_details() -> None:
    """A call on each rank is found once. Its messages, and the calls of which it is composed, are not found."""

    def gathers(comm: Any) -> None:
        for _ in range(2):
            comm.gather(comm.rank)
            comm.Barrier()
        comm.sendrecv(1, comm.rank ^ 1, source=comm.rank ^ 1)

    async def act(viewer: Any, pilot: Any) -> None:
        await pilot.press("slash", *"gather", "enter")
        await settled(pilot, lambda: words(viewer, "#keys").startswith("1 of 8: gather"))
        for number in (2, 3):
            await pilot.press("n")
            expected = f"{number} of 8: gather"
            await settled(pilot, lambda expected=expected: words(viewer, "#keys").startswith(expected))  # type: ignore[misc]
            found = viewer.hits[number - 1]
            assert (viewer.timeline.viewport.rank, viewer.timeline.viewport.at) == (found.rank, found.start)
            assert words(viewer, "#details").startswith(f"rank {found.rank} in gather")
        await pilot.press("p", "p", "p")
        await settled(pilot, lambda: words(viewer, "#keys").startswith("8 of 8: gather"))
        await pilot.press("slash", *"sendrecv", "enter")
        await settled(pilot, lambda: words(viewer, "#keys").startswith("1 of 4: sendrecv"))
        await pilot.press("escape")
        await settled(pilot, lambda: words(viewer, "#keys").startswith("+ - zoom"))

    trace = fakempi.run(gathers, 4, cost=Hockney(1e-6, 1e-9), trace=True).trace
    assert trace is not None
    with_pilot(trace, act)


@pytest.mark.slow
def test_without_a_search_n_and_p_move_to_events_of_the_rank() -> None:
    """And with a search to its results, until Escape clears it."""

    async def act(viewer: Any, pilot: Any) -> None:
        await pilot.press("down", "n")
        await settled(pilot, lambda: viewer.timeline.viewport.at > 0)
        assert viewer.at_cursor.message >= 0
        assert viewer.timeline.viewport.rank == 1
        await pilot.press("p")
        await settled(pilot, lambda: viewer.timeline.viewport.at == 0)
        await pilot.press("slash", *"barrier", "enter")
        await settled(pilot, lambda: len(viewer.hits) > 1)
        await pilot.press("escape")
        await settled(pilot, lambda: viewer.hits == [])
        rank = viewer.timeline.viewport.rank
        await pilot.press("p", "p")
        await settled(pilot, lambda: "Barrier" not in words(viewer, "#details"))
        assert viewer.timeline.viewport.rank == rank

    with_pilot(traced(), act)


def test_the_cursor_visits_every_row_of_unequal_nodes() -> None:
    """Rows have one to three ranks; each step down reaches the next row."""
    machine = fakempi.TwoLevel(placement=[rank // 5 for rank in range(24)])
    trace = fakempi.run(lambda comm: comm.Barrier(), 24, cost=machine, trace=True).trace
    assert trace is not None

    async def act(viewer: Any, pilot: Any) -> None:
        groups = viewer.timeline.groups()
        assert {len(group) for group in groups} == {1, 2, 3}
        visited = [viewer.timeline.viewport.rank]
        for _ in groups[1:]:
            viewer.action_step(1, 0)
            visited.append(viewer.timeline.viewport.rank)
        assert visited == [group[0] for group in groups]

    with_pilot(trace, act)


def test_the_viewer_and_the_page_share_their_keys() -> None:
    """Each effect of a key of the viewer, except leaving it, is in the help of the page, with the same keys."""
    page = (Path(fakempi.view.page.assemble.__file__).with_name("page.html")).read_text(encoding="utf-8")
    entries = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    keys = {words: [unescape(key) for key in re.findall(r"<kbd>(.*?)</kbd>", shown)] for shown, words in entries}
    for line in app.HELP.splitlines():
        shown, effect = line[:11].split(), line[11:].partition(" (")[0]
        if "Ctrl-C" in shown or "Esc" in shown:
            continue
        found = next(names for words, names in keys.items() if effect in words)
        assert set(shown) - {"to"} <= set(found)


@pytest.mark.slow
def test_tables_and_help() -> None:
    """Each at 80 columns."""

    async def act(viewer: Any, pilot: Any) -> None:
        sheets = {"2": "rounds", "3": "Wait states", "4": "from", "5": "blocks of ranks", "6": "Critical path"}
        for key, expected in sheets.items():
            await pilot.press(key)
            await settled(pilot, lambda expected=expected: expected in words(viewer, "#view_text"))  # type: ignore[misc]
        await pilot.press("7")
        await settled(pilot, lambda: "has no findings" in words(viewer, "#view_text"))
        await pilot.press("question_mark")
        await settled(pilot, lambda: "follow the message" in words(viewer, "#view_text"))
        await pilot.press("escape")
        await settled(pilot, lambda: viewer.query_one("ContentSwitcher").current == "timeline")

    with_pilot(traced(), act)


def test_many_ranks_are_folded() -> None:
    """As many ranks per lane as necessary, and fewer when unfolded."""

    async def act(viewer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: len(viewer.timeline.groups()) <= 16)
        assert len(viewer.timeline.groups()[0]) > 1
        await pilot.press(*["right_square_bracket"] * 5)
        await settled(pilot, lambda: len(viewer.timeline.groups()[0]) == 1)

    with_pilot(traced(200), act)


def test_a_deadlock_starts_with_its_report() -> None:
    """The lanes show the peers."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(lambda comm: comm.recv(source=(comm.rank + 1) % comm.size), 3, trace=True)

    async def act(viewer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: words(viewer, "#view_text").startswith("How the run ended\ndeadlock at t = 0 s"))
        await pilot.press("1")
        await settled(pilot, lambda: "rank 0 is blocked; it waits for a message from rank 1" in words(viewer, "#details"))

    assert isinstance(caught.value.trace, fakempi.Trace)
    with_pilot(caught.value.trace, act)


def test_the_details_are_those_at_the_cursor_whenever_the_timeline_gets_its_size() -> None:
    """While another view is shown, as at first after a failed run, it has none; a column would be the whole run."""

    def fails(comm: Any) -> None:
        ring(comm)
        comm.recv(source=comm.rank)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(fails, 8, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True)

    async def act(viewer: Any, pilot: Any) -> None:
        await pilot.press("1")
        await settled(pilot, lambda: "rank 0 computes for 1 µs" in words(viewer, "#details"))
        cell = viewer.timeline.cell()
        await pilot.press("2", "plus")
        await settled(pilot, lambda: 0 < viewer.timeline.cell() < cell)
        assert "rank 0 computes for 1 µs" in words(viewer, "#details")

    assert isinstance(caught.value.trace, fakempi.Trace)
    with_pilot(caught.value.trace, act)


@pytest.mark.slow
def test_run_ends_in_the_viewer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`fakempi run -i` shows the run when it has ended, the earlier output of the program, and exits with the program's
    code.
    """
    seen = []

    def run(viewer: Any) -> None:
        async def driven() -> None:
            async with viewer.run_test(size=(80, 24)) as pilot:
                await pilot.press("slash", *"barrier", "enter")
                await settled(pilot, lambda: "Barrier at " in words(viewer, "#details"))
                seen.append((words(viewer, "#head"), words(viewer, "#details")))
                await pilot.press("q")

        asyncio.run(driven())

    monkeypatch.setattr(app.TraceViewer, "run", run)
    code = "from mpi4py import MPI; print('a line') if MPI.COMM_WORLD.rank == 0 else None; MPI.COMM_WORLD.Barrier()"
    assert main(["run", "-i", "-n", "4", "-c", code]) == 0
    ((head, details),) = seen
    assert "ranks 0 to 3 of 4" in head
    assert "Barrier at " in details
    assert capsys.readouterr().out.startswith("a line\n")


def test_usage_errors_are_reported(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One trace, and no files."""
    traced().save(tmp_path / "t.npz")
    assert main(["view", "-i", str(tmp_path / "t.npz"), "--html", str(tmp_path / "x.html")]) == 2
    assert "-i shows one trace in the terminal" in capsys.readouterr().err


def test_without_a_terminal_it_does_not_wait_for_keys(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe or a batch job it could not be ended."""
    traced().save(tmp_path / "t.npz")
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "__stdin__", nothing)
        assert main(["view", "-i", str(tmp_path / "t.npz")]) == 2
    assert "-i needs a terminal: stdin or stderr is not a terminal." in capsys.readouterr().err


def test_the_names_of_the_views_can_be_clicked() -> None:
    """They are below the first line, with their keys."""

    async def act(viewer: Any, pilot: Any) -> None:
        tabs = words(viewer, "#tabs")
        assert tabs.split("  ") == [f"{key} {name}" for key, name in enumerate(app.VIEWS, 1)]
        await pilot.click("#tabs", offset=(tabs.index("waits"), 0))
        await settled(pilot, lambda: "Wait states" in words(viewer, "#view_text"))

    with_pilot(traced(), act)
