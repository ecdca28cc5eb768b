"""The explorer, driven by keys and mouse as textual's pilot presses them, at 80 columns and 24 rows."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import fakempi
from fakempi import Hockney, phantom
from fakempi.cli import main
from fakempi.trace.record import Trace

app = pytest.importorskip("fakempi.explorer.app", reason="there is no textual: pip install textual", exc_type=ImportError)


def ring(comm: Any) -> None:
    """Each computes and hands 800 bytes to the next."""
    fakempi.compute(1e-6 * (1 + comm.rank % 3))
    comm.Sendrecv(phantom(800), (comm.rank + 1) % comm.size, 7, phantom(800), (comm.rank - 1) % comm.size, 7)
    comm.Barrier()


def traced(ranks: int = 8) -> Trace:
    """The trace of that."""
    trace = fakempi.run(ring, ranks, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace
    assert trace is not None
    return trace


def piloted(trace: Trace, act: Callable[[Any, Any], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Start it, do something, and leave."""

    async def driven() -> None:
        explorer = app.Explorer(trace, "ring.npz")
        async with explorer.run_test(size=size) as pilot:
            await pilot.pause()
            await act(explorer, pilot)

    asyncio.run(driven())


def words(explorer: Any, name: str) -> str:
    """What a part of the screen says."""
    return str(explorer.query_one(name).render())


async def settled(pilot: Any, holds: Callable[[], object]) -> None:
    """What follows a key comes when the screen gets to it: wait until it holds, or fail after a while as it does not."""
    for _ in range(500):
        if holds():
            return
        await pilot.pause(0.01)
    assert holds()


def test_all_is_seen_at_first() -> None:
    """Times, ranks, a lane for each, and what is under the cursor."""

    async def act(explorer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: "ranks 0 to 7 of 8" in words(explorer, "#head"))
        assert words(explorer, "#head").startswith("ring.npz: 0 s to ")
        lines = words(explorer, "#timeline").splitlines()
        assert [line.split()[0] for line in lines[1:9]] == list("01234567")
        assert max(map(len, lines)) <= 80
        await settled(pilot, lambda: "rank 0 computes for 1 µs" in words(explorer, "#details"))
        assert "compute at test_app.py:" in words(explorer, "#details")
        assert "fakempi.compute(1e-6" in words(explorer, "#details")  # the line of the program

    piloted(traced(), act)


def test_keys_zoom_move_fold_and_follow() -> None:
    """The cursor's message is told, and Enter goes to its other end and back."""

    async def act(explorer: Any, pilot: Any) -> None:
        whole = explorer.lanes.glass
        await pilot.press("plus")
        await settled(pilot, lambda: explorer.lanes.glass.end < whole.end)
        await pilot.press("minus")
        await settled(pilot, lambda: explorer.lanes.glass.end == pytest.approx(whole.end))
        await pilot.press("right_square_bracket")
        await settled(pilot, lambda: explorer.lanes.glass.count == 4)
        await pilot.press("0", "down", "down", *["right"] * 34)
        await settled(pilot, lambda: explorer.found.message >= 0)
        await settled(pilot, lambda: "800 bytes, tag 7" in words(explorer, "#details"))
        await pilot.press("enter")
        await settled(pilot, lambda: explorer.lanes.glass.rank in (1, 3))
        await pilot.press("enter")
        await settled(pilot, lambda: explorer.lanes.glass.rank == 2)

    piloted(traced(), act)


def test_the_mouse_points_and_zooms() -> None:
    """A click moves the cursor to its lane."""

    async def act(explorer: Any, pilot: Any) -> None:
        await pilot.click("#timeline", offset=(40, 4))
        await settled(pilot, lambda: explorer.lanes.glass.rank == 3)
        await settled(pilot, lambda: 0 < explorer.lanes.glass.at < explorer.trace.time)

    piloted(traced(), act)


def test_search_finds_ranks_and_words() -> None:
    """And says so if there is none."""

    async def act(explorer: Any, pilot: Any) -> None:
        await pilot.press("slash", "5", "enter")
        await settled(pilot, lambda: explorer.lanes.glass.rank == 5)
        await pilot.press("slash", *"barrier", "enter")
        await settled(pilot, lambda: len(explorer.hits) > 1)
        first = explorer.lanes.glass
        await pilot.press("n")
        await settled(pilot, lambda: explorer.lanes.glass != first)
        await pilot.press("slash", *"joy", "enter")
        await settled(pilot, lambda: words(explorer, "#details") == "Nothing here is called 'joy'.")

    piloted(traced(), act)


def test_sheets_and_help() -> None:
    """Every one at 80 columns."""

    async def act(explorer: Any, pilot: Any) -> None:
        sheets = {"2": "rounds", "3": "Wait states", "4": "from", "5": "Critical path", "6": "blocks of ranks"}
        for key, told in sheets.items():
            await pilot.press(key)
            await settled(pilot, lambda told=told: told in words(explorer, "#words"))  # type: ignore[misc]
        await pilot.press("7")
        await settled(pilot, lambda: words(explorer, "#words") == "Nothing was found to be wrong with this run.")
        await pilot.press("question_mark")
        await settled(pilot, lambda: "follow the message" in words(explorer, "#words"))
        await pilot.press("escape")
        await settled(pilot, lambda: explorer.query_one("ContentSwitcher").current == "timeline")

    piloted(traced(), act)


def test_many_ranks_are_folded() -> None:
    """As many a lane as it takes, and fewer when unfolded."""

    async def act(explorer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: len(explorer.lanes.groups()) <= 16)
        assert len(explorer.lanes.groups()[0]) > 1
        await pilot.press(*["right_square_bracket"] * 5)
        await settled(pilot, lambda: len(explorer.lanes.groups()[0]) == 1)

    piloted(traced(200), act)


def test_a_deadlock_begins_with_its_report() -> None:
    """And the lanes say who waits for what."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(lambda comm: comm.recv(source=(comm.rank + 1) % comm.size), 3, trace=True)

    async def act(explorer: Any, pilot: Any) -> None:
        await settled(pilot, lambda: words(explorer, "#words").startswith("deadlock at t = 0 s"))
        await pilot.press("1")
        await settled(pilot, lambda: "rank 0 waits for ever, for a message from rank 1" in words(explorer, "#details"))

    piloted(caught.value.trace, act)


def test_run_ends_in_the_explorer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`fakempi run -i` shows the run when it is over, what the program printed before that, and ends as the program did."""
    seen = []

    def run(explorer: Any) -> None:
        async def driven() -> None:
            async with explorer.run_test(size=(80, 24)) as pilot:
                await pilot.press("slash", *"barrier", "enter")
                await settled(pilot, lambda: "Barrier at " in words(explorer, "#details"))
                seen.append((words(explorer, "#head"), words(explorer, "#details")))
                await pilot.press("q")

        asyncio.run(driven())

    monkeypatch.setattr(app.Explorer, "run", run)
    code = "from mpi4py import MPI; print('a line') if MPI.COMM_WORLD.rank == 0 else None; MPI.COMM_WORLD.Barrier()"
    assert main(["run", "-i", "-n", "4", "-c", code]) == 0
    ((head, details),) = seen
    assert "ranks 0 to 3 of 4" in head
    assert "Barrier at " in details
    assert capsys.readouterr().out.startswith("a line\n")


def test_wrong_use_is_told(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """One trace, and no files."""
    traced().save(tmp_path / "t.npz")
    assert main(["view", "-i", str(tmp_path / "t.npz"), "--html", str(tmp_path / "x.html")]) == 2
    assert "-i shows one trace, in the terminal" in capsys.readouterr().err


def test_without_a_terminal_it_does_not_wait_for_keys(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe or a job of a cluster nobody can leave it."""
    traced().save(tmp_path / "t.npz")
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "__stdin__", nothing)
        assert main(["view", "-i", str(tmp_path / "t.npz")]) == 2
    assert "-i needs a terminal, where it is drawn and keys are pressed: there is none." in capsys.readouterr().err
