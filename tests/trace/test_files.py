"""Traces in files: reading returns what was written, and Perfetto can show the file."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney, TraceError, compute, phantom
from fakempi.trace.chrome import events
from fakempi.trace.files import OLD_TABLES
from fakempi.trace.record import Trace, load
from tests.trace.lists import in_lists


def busy(comm: Any, messages: list[tuple[int, int, int]]) -> None:
    """A program with phases, blocking and nonblocking collectives, computing, and overlapping messages."""
    with fakempi.region("phase"):
        request = comm.Iallreduce(phantom(80), phantom(80))
        compute(30 * (1 + comm.rank))
        with fakempi.region("inner"):
            comm.Bcast(phantom(8), root=comm.size - 1)
        request.Wait()
    wanted = [comm.Irecv(phantom(99), source % comm.size) for source, dest, _ in messages if dest % comm.size == comm.rank]
    sends = [(dest % comm.size, size) for source, dest, size in messages if source % comm.size == comm.rank]
    wanted += [comm.Isend(phantom(size), dest) for dest, size in sends]
    compute(1)
    MPI.Request.Waitall(wanted)
    if comm.rank == 0:
        comm.Send(phantom(1), comm.size - 1, tag=5)  # no rank receives it


def traced(ranks: int = 3, messages: list[tuple[int, int, int]] | None = None) -> Trace:
    """The trace of that program."""
    messages = messages or [(0, 1, 9), (0, 2, 5), (2, 1, 7)]
    found = fakempi.run(busy, ranks, messages, cost=Hockney(1, 1), trace=True, algorithms={"bcast": "binomial"}).trace
    assert found is not None
    return found


MESSAGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 99)), max_size=12)


@pytest.mark.parametrize("name", ["t.json", "t.npz"])
def test_reading_returns_what_was_written(name: str, tmp_path: Path) -> None:
    """All values exactly; also the message without a receive."""
    trace = traced()
    trace.save(tmp_path / name)
    again = load(str(tmp_path / name))
    assert again == trace
    assert again.transfers == trace.transfers
    assert list(again.regions) == list(trace.regions)


def test_files_of_earlier_formats_are_read(tmp_path: Path) -> None:
    """All values exactly, too; the protocol is inferred from the times."""
    expected = traced()
    rows = expected.transfer_rows = expected.transfer_rows.copy()
    rows["protocol"] = rows["start"] < rows["awaited"]
    assert set(rows["protocol"].tolist()) == {0, 1}
    assert load(rewritten(tmp_path / "t.json", lambda head: None)) == expected
    old = tmp_path / "old.npz"
    expected.save(old)
    with np.load(old) as file:
        tables = dict(file)
    tables["head"] = np.array(str(tables["head"]).replace('"format": 3', '"format": 2'))
    columns = OLD_TABLES["transfers"].dtype
    tables["transfers"] = np.array(tables["transfers"][list(OLD_TABLES["transfers"].names)].tolist(), columns)
    np.savez_compressed(old, **tables)
    assert load(old) == expected


def barriers(comm: Any) -> None:
    """Call Barrier 20 times."""
    for _ in range(20):
        comm.Barrier()


def test_a_message_takes_few_bytes_in_a_json_file(tmp_path: Path) -> None:
    """The columns are the smallest part, and the events for Perfetto the largest."""
    trace = fakempi.run(barriers, 32, cost=Hockney(1e-6, 1e-9), trace=True).trace
    assert trace is not None
    trace.save(tmp_path / "t.json")
    head = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["otherData"]["fakempi"]
    assert len(head["transfers"]["packed"]) < 20 * len(trace)
    assert (tmp_path / "t.json").stat().st_size < 500 * len(trace)


@given(ranks=st.integers(1, 5), messages=MESSAGES)
def test_slices_in_a_row_nest(ranks: int, messages: list[tuple[int, int, int]]) -> None:
    """Of two overlapping slices one is inside the other; messages never overlap in a row."""
    rows: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    titles: dict[int, str] = {}
    for event in events(traced(ranks, messages)):
        if event["ph"] == "X":
            assert event["dur"] >= 0
            rows[event["tid"]].append((event["ts"], event["ts"] + event["dur"], titles[event["tid"]]))
        elif event["name"] == "thread_name":
            titles[event["tid"]] = event["args"]["name"]
    for slices in rows.values():
        for i, (start, end, category) in enumerate(slices):
            for other_start, other_end, _ in slices[:i]:
                apart = end <= other_start + 1e-3 or other_end <= start + 1e-3
                inside = (other_start <= start and end <= other_end) or (start <= other_start and other_end <= end)
                assert apart or (inside and category.startswith(("calls", "background")))


@given(ranks=st.integers(1, 5), messages=MESSAGES)
def test_every_arrow_has_one_beginning_and_one_end(ranks: int, messages: list[tuple[int, int, int]]) -> None:
    """With a distinct number, inside a slice of the sender and one of the receiver."""
    trace = traced(ranks, messages)
    found: dict[str, dict[int, Any]] = {"s": {}, "f": {}}
    slices = defaultdict(list)
    names = {}
    for event in events(trace):
        if event["ph"] in found:
            assert event["id"] not in found[event["ph"]]
            found[event["ph"]][event["id"]] = event
        elif event["ph"] == "X":
            slices[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        elif event["name"] == "process_name":
            names[event["pid"]] = event["args"]["name"]
    assert set(found["s"]) == set(found["f"])
    assert len(found["s"]) == sum(one.awaited < float("inf") for one in trace.transfers) == len(trace) - 1
    for arrow, begin in found["s"].items():
        end = found["f"][arrow]
        one = trace.transfers[arrow - 1]
        assert (names[begin["pid"]], names[end["pid"]]) == (f"rank {one.source}", f"rank {one.dest}")
        assert begin["ts"] <= end["ts"]
        for event in (begin, end):
            assert any(a <= event["ts"] <= b + 1e-3 for a, b in slices[event["pid"], event["tid"]])


def test_rows_have_distinct_names_and_numbers() -> None:
    """Rows of the program first, then overlapping ones."""
    titles = defaultdict(list)
    numbers = []
    for event in events(traced()):
        if event["name"] == "thread_name":
            titles[event["pid"]].append(event["args"]["name"])
            numbers.append(event["tid"])
    assert titles[1] == ["calls", "background", "sends 1", "sends 2", "receives 1", "receives 2"]
    assert len(set(numbers)) == len(numbers)
    assert 0 not in numbers


def test_the_file_is_standard_json(tmp_path: Path) -> None:
    """Python would write Infinity, which is invalid. Times are microseconds, and slices have the place of the call."""
    traced().save(tmp_path / "t.json")

    def refuse(word: str) -> Any:
        raise AssertionError(word)

    content = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"), parse_constant=refuse)
    (bcast,) = (e for e in content["traceEvents"] if e["name"] == "bcast (binomial)" and e["pid"] == 1)
    assert bcast["ts"] == 30e6
    assert bcast["args"]["call"].startswith("Bcast at test_files.py:")
    assert bcast["args"]["root"] == 2


def rewritten(path: Path, change: Any) -> Path:
    """A trace in a JSON file, modified."""
    traced().save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    in_lists(content["otherData"]["fakempi"])
    change(content["otherData"]["fakempi"])
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_invalid_files_are_rejected_with_a_reason(tmp_path: Path) -> None:
    """The file name first, then the error."""
    path = tmp_path / "t.json"
    with pytest.raises(TraceError, match=r"t\.txt: the name of a trace file must end in \.json or \.npz"):
        traced().save(tmp_path / "t.txt")
    with pytest.raises(FileNotFoundError):
        load(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(TraceError, match=r"t\.json: not JSON: Expecting property name"):
        load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TraceError, match=r"t\.json: not JSON: "):
        load(path)
    missing, other_type = "'otherData' is missing", "a part is not a table"
    for other, words in (('{"traceEvents": []}', missing), ("[]", other_type), ("3", other_type)):
        path.write_text(other, encoding="utf-8")
        with pytest.raises(TraceError, match=rf"t\.json: JSON, but not a trace that fakempi wrote: {words}\.$"):
            load(path)
    with pytest.raises(TraceError, match=r"t\.json: the trace has format 7; this fakempi reads formats 1 to 3\.$"):
        load(rewritten(path, lambda head: head.update(format=7)))
    damaged = r"t\.json: the trace is damaged: "
    with pytest.raises(TraceError, match=damaged + r"the columns of transfers have different lengths: \[17, 18\]\.$"):
        load(rewritten(path, lambda head: head["transfers"]["tag"].pop()))
    with pytest.raises(TraceError, match=damaged + r"call 99 of computes is not in the range 0 to 7\.$"):
        load(rewritten(path, lambda head: head["computes"]["call"].__setitem__(0, 99)))
    with pytest.raises(TraceError, match=damaged + r"tag of transfers: not all values are numbers\.$"):
        load(rewritten(path, lambda head: head["transfers"]["tag"].__setitem__(0, "x")))
    with pytest.raises(TraceError, match=r"t\.json: the trace is damaged: clocks, calls and names must be lists\.$"):
        load(rewritten(path, lambda head: head.pop("names")))
    with pytest.raises(TraceError, match=r"t\.json: the trace is damaged: it has no ranks\.$"):
        load(rewritten(path, lambda head: head.update(clocks=[])))


def test_invalid_npz_files_are_rejected_with_a_reason(tmp_path: Path) -> None:
    """Not a zip file, one of another program, and one with other columns."""
    path = tmp_path / "t.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(TraceError, match=r"t\.npz: not a trace: "):
        load(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(TraceError, match=r"t\.npz: not a trace: "):
        load(path)
    traced().save(path)
    with np.load(path) as file:
        columns = dict(file)
    columns["computes"] = np.zeros(2)
    np.savez(path, **columns)
    with pytest.raises(TraceError, match=r"t\.npz: the trace is damaged: computes has columns None\.$"):
        load(path)
