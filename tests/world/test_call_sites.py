"""Every public call reports the line of the program that made it, whatever is between the call and the report.

A script makes each call on a separate line (`tests.helpers.call_table`). The expected line is known from the script, and is
compared with errors, findings, deadlock reports and traces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.errors import MPIError, RunError
from tests.helpers import call_table
from tests.helpers.call_table import Row, public_calls, written, wrong_call


def ran(main: Any, size: int = 2, **options: Any) -> Any:
    """A run, or the error that it ends with: both have findings."""
    try:
        return fakempi.run(main, size, **options)
    except RunError as error:
        return error


def report(outcome: Any) -> str:
    """All messages of a run: its error, and its findings."""
    words = [str(outcome) if isinstance(outcome, RunError) else "", *map(str, outcome.findings)]
    return "\n".join(words)


# -- all calls ---------------------------------------------------------------------------------------------------------

WITH_ERRORS = [name for name in public_calls() if name not in call_table.EXCLUDED and name not in call_table.MADE_ELSEWHERE]


def test_each_call_has_a_row() -> None:
    """A new call that is in no table fails here, and so does a row of a call that no longer exists."""
    unknown = {*call_table.EXCLUDED, *call_table.MADE_ELSEWHERE, *call_table.WRONG} - {*public_calls()}
    assert unknown == set()
    for name, rows in call_table.MADE_ELSEWHERE.items():
        assert name.rpartition(".")[2] in {row.call for row in rows}
    assert len(WITH_ERRORS) > 400
    assert not {*call_table.EXCLUDED} & {*call_table.MADE_ELSEWHERE, *call_table.WRONG}


def test_an_error_has_the_line_of_the_call(tmp_path: Path) -> None:
    """Each call is made with an error."""
    calls = public_calls()
    script = written(tmp_path / "wrong.py", [wrong_call(name, calls[name]) for name in WITH_ERRORS])
    shared: dict[str, Any] = {}

    def main(comm: Any) -> list[Any]:
        if comm.rank == 0:
            shared["foreign"], shared["persistent"] = comm.Irecv(np.zeros(1), 1), comm.Recv_init(np.zeros(1), 1)
            shared["persistent"].Start()
        comm.Barrier()
        found = []
        for row, call, _ in script if comm.rank == 1 else ():
            try:
                found.append(call(comm, 1, 0, **shared))
            except MPIError as error:
                found.append((error.place, str(error).partition(":")[0]))
            except Exception as error:
                found.append((row.code, repr(error)))
        comm.Barrier()
        return found

    found = ran(main).returns[1]
    expected = [(place, f"{row.call} on rank 1") for row, _, place in script]
    assert dict(zip(WITH_ERRORS, found, strict=True)) == dict(zip(WITH_ERRORS, expected, strict=True))


# -- correct calls, traced ---------------------------------------------------------------------------------------------


def ring(comm: Any) -> Any:
    """A communicator on which all collective calls are possible."""
    return comm.Create_cart([2], periods=[True])


def test_a_trace_has_the_line_of_each_call(tmp_path: Path) -> None:
    """Each call is made three times from its line: the second one uses the cached recipe."""
    for row, call, place in written(tmp_path / "traced.py", call_table.COLLECTIVE + call_table.EXCHANGES):

        def main(comm: Any, call: Any = call, row: Row = row) -> None:
            comm = ring(comm)
            for _ in range(3):
                call(comm, comm.rank, 1 - comm.rank)
                if row.before:
                    MPI.Detach_buffer()

        trace = fakempi.run(main, 2, trace=True).trace
        assert trace is not None
        used = [number for one in trace.transfers for number in (one.call, one.receive_call)]
        used += [one.call for one in trace.regions if one.parent == -1]
        seen = {trace.calls[number] for number in used}
        found = {(name, f"{Path(file).name}:{line}") for name, file, line in seen if name != "Create_cart"}
        assert (row.call, place) in found, (row, found)
        assert {where for _, where in found} == {place}, (row, found)


@pytest.mark.parametrize("step", [1, -1])
def test_a_trace_has_the_lines_of_calls_in_any_order(tmp_path: Path, step: int) -> None:
    """The recorder measures the distance to the program's frame: the first calls may be further away than later ones, or
    closer.
    """
    rows = [row for row in call_table.EXCHANGES if not row.before] + call_table.DIRECT
    script = written(tmp_path / "orders.py", rows)[::step]

    def main(comm: Any) -> None:
        for _, call, _ in script * 2:
            call(comm, comm.rank, 1 - comm.rank)

    trace = fakempi.run(main, 2, trace=True).trace
    assert trace is not None
    seen = [trace.calls[one.call] for one in trace.transfers]
    places = [f"{Path(file).name}:{line}" for _, file, line in seen]
    assert list(dict.fromkeys(places)) == [place for _, _, place in script]
    sent = {(row.call, place) for row, _, place in script if row.call not in ("Recv", "recv")}
    assert sent <= {(name, place) for (name, _, _), place in zip(seen, places, strict=True)}


# -- incomplete operations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [call_table.NONBLOCKING, call_table.STARTED], ids=["collective", "messages"])
def test_a_request_without_a_wait_has_its_line(tmp_path: Path, rows: list[Row]) -> None:
    """The second one from the same line has the origin of the first."""
    for row, call, place in written(tmp_path / "started.py", rows):

        def main(comm: Any, call: Any = call, row: Row = row) -> None:
            comm = ring(comm)
            for _ in range(1 if row.before else 2):
                call(comm, comm.rank, 1 - comm.rank)

        found = {(one.call, one.place): one for one in ran(main).findings if one.kind != "attached-buffer"}
        assert found.keys() == {(row.call, place)}, (row, found)


@pytest.mark.parametrize("rows", [call_table.PERSISTENT, call_table.PREPARED], ids=["collective", "messages"])
def test_a_request_that_is_never_started_has_its_line(tmp_path: Path, rows: list[Row]) -> None:
    """A persistent request is reported where it was created."""
    for row, call, place in written(tmp_path / "prepared.py", rows):

        def main(comm: Any, call: Any = call) -> None:
            comm = ring(comm)
            call(comm, comm.rank, 1 - comm.rank)

        found = {(one.call, one.place) for one in ran(main, strict=True).findings if one.kind == "missing-start"}
        assert found == {(row.call, place)}, (row, found)


def test_a_message_without_a_receive_has_its_line(tmp_path: Path) -> None:
    """A send that completes before its receive stores its line in the message."""
    for row, call, place in written(tmp_path / "lost.py", call_table.LOST):

        def main(comm: Any, call: Any = call, row: Row = row) -> None:
            for _ in range(1 if row.before else 2) if comm.rank == 0 else ():
                call(comm, 0, 1)

        found = {(one.call, one.place) for one in ran(main).findings if one.kind == "message-lost"}
        assert found == {(row.call, place)}, (row, found)


def test_a_resource_that_is_not_freed_has_its_line(tmp_path: Path) -> None:
    """For communicators, windows, files, datatypes and all others, in strict runs."""
    for row, call, place in written(tmp_path / "made.py", call_table.MAKERS):

        def main(comm: Any, call: Any = call) -> None:
            call(comm, comm.rank, 1 - comm.rank)

        found = {(one.call.rpartition(".")[2], one.place) for one in ran(main, strict=True).findings}  # or Win.Create
        assert (row.call, place) in found, (row, found)


# -- conflicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("kind", ["COLLECTIVE", "NONBLOCKING", "PERSISTENT"])
def test_different_collective_calls_have_their_lines(tmp_path: Path, kind: str, times: int) -> None:
    """One rank makes the call of the row, the other another one: the first time, or after earlier calls."""
    rows = [*getattr(call_table, kind), Row("Iexscan", "comm.Iexscan(out(), into())")]
    *script, (_, other_call, other_place) = written(tmp_path / "differ.py", rows)
    for row, call, place in script:
        if row.call == "Iexscan":
            continue
        for first in range(2):

            def main(comm: Any, call: Any = call, first: int = first) -> None:
                comm = ring(comm)
                for turn in range(times):
                    differs = turn == times - 1 and comm.rank != first
                    (other_call if differs else call)(comm, comm.rank, 1 - comm.rank)

            error = ran(main)
            assert isinstance(error, RunError), row
            assert f"{row.call} at {place}" in str(error), (row, error)
            assert f"Iexscan at {other_place}" in str(error), (row, error)


def test_a_blocked_rank_has_its_line(tmp_path: Path) -> None:
    """A deadlock report reads the stacks of the ranks that wait."""
    for row, call, place in written(tmp_path / "waits.py", call_table.WAITS + call_table.COLLECTIVE):

        def main(comm: Any, call: Any = call) -> None:
            comm = ring(comm)
            if comm.rank == 1:
                call(comm, 1, 0)

        words = report(ran(main))
        assert f"at {place}" in words, (row, words)
        assert row.call.lower() in words.lower(), (row, words)  # a deadlock report has Probe for probe


def test_conflicting_accesses_have_their_lines(tmp_path: Path) -> None:
    """Two ranks access the same bytes of a window: each access is named with its line."""
    for row, call, place in written(tmp_path / "clash.py", call_table.ONE_SIDED):

        def main(comm: Any, call: Any = call, row: Row = row) -> None:
            win = call(comm, comm.rank, 1 - comm.rank)
            win.Put(np.ones(4), 0)
            win.Unlock(0) if "Lock" in row.before else win.Fence()
            win.Free()

        found = [str(one) for one in ran(main).findings if one.kind == "window-race"]
        assert any(f"{row.call} at {place}" in one or f"at {place}" in one for one in found), (row, found)
