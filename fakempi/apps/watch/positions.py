"""The position of each rank when a report is written, from the answers of the ranks and the process table."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fakempi.apps.watch.connections import Listener, WatchedProcess
from fakempi.apps.watch.mpi_calls import is_mpi
from fakempi.apps.watch.processes import ProcessEntry, file_lock_waits, other_ranks, process_entry, process_table

FAULTHANDLER_LINE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')


@dataclass
class RankPosition:
    """A rank: its threads and their frames, the innermost call of the main thread, and whether it has ended.

    `kind` is "python" (it answered), "silent" (C code holds the interpreter lock), "left" (the program has ended, and
    MPI_Finalize may wait), "ended" (so has the process) or "program" (it is not Python, or not watched).
    """

    number: int
    kind: str
    since: float
    process: WatchedProcess | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    entry: ProcessEntry | None = None
    file_lock_holder: int | None = None  # the number of the rank that holds the lock of a file that this rank waits for
    looping: bool = False

    @property
    def threads(self) -> Sequence[Mapping[str, Any]]:
        """The stacks, the main thread first."""
        return self.report.get("threads") or ()

    @property
    def test(self) -> str:
        """The test of pytest, without its phase."""
        if self.kind == "silent":  # the last sample is older than the test may be
            return self.test_of_stack()
        process = self.process
        text = self.report.get("test") or (process.sample.get("test") if process else "") or ""
        return str(text).rpartition(" (")[0] or str(text)


    def test_of_stack(self) -> str:
        """Return the test function that the stack of a rank shows which could not answer."""
        frames: Sequence[Mapping[str, Any]] = self.threads[0]["frames"] if self.threads else ()
        found = [each for each in frames if each["own"] and str(each["function"]).startswith("test")]
        return f"{os.path.basename(found[-1]['file'])}::{found[-1]['function']}" if found else ""


def own_frame(thread: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the innermost frame in a file of the program, or the innermost of all."""
    frames: Sequence[Mapping[str, Any]] = thread.get("frames") or ()
    return next((each for each in frames if each.get("own")), frames[0] if frames else {"file": "?", "line": 0})


def blocking_call(thread: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the MPI call of a thread, or else the call of its innermost frame of the program."""
    frames: Sequence[Mapping[str, Any]] = thread.get("frames") or ()
    if frames and is_mpi(frames[0].get("call")):
        call: Mapping[str, Any] = frames[0]["call"]
        return call
    return own_frame(thread).get("call")


def collect(listener: Listener, launcher: int, start: float, number: int) -> list[RankPosition]:
    """Request the stacks of all ranks; returns the state of each, in the order of their numbers."""
    listener.collect("report", number, 2.5)
    silent = [each for each in listener.ranks() if not each.closed and each.left is None and each.waits_for_answer]
    for each in silent:
        _request_fallback(each)
    if silent:
        listener.receive(0.3)
    table = process_table()
    numbers = group_offsets(listener.ranks())
    states = [_state(each, numbers[each.group] + (each.rank or 0), start, listener) for each in listener.ranks()]
    watched = {each.pid for each in listener.processes}
    known = {state.number for state in states}
    for rank, entry in other_ranks(launcher, watched, table):
        if rank not in known:
            states.append(RankPosition(rank, "program", 0.0, entry=entry))
    _add_file_locks(states)
    return sorted(states, key=lambda each: each.number)


def group_offsets(ranks: Sequence[WatchedProcess]) -> dict[int, int]:
    """Return the number of the first rank of each group: groups follow each other."""
    sizes: dict[int, int] = {}
    for each in ranks:
        sizes[each.group] = max(sizes.get(each.group, 0), each.size or 0, (each.rank or 0) + 1)
    offsets, total = {}, 0
    for group in sorted(sizes):
        offsets[group] = total
        total += sizes[group]
    return offsets


def _state(process: WatchedProcess, number: int, start: float, listener: Listener) -> RankPosition:
    since = round(max(0.0, process.moved - start), 1)
    entry = process_entry(process.pid)
    if process.closed:
        return RankPosition(number, "ended", since, process, process.left or {}, entry)
    if process.left is not None:
        return RankPosition(number, "left", since, process, process.left, entry)
    if process.waits_for_answer or "report" not in process.answers:
        text = ""
        with suppress(OSError):
            text = (listener.directory / f"stack-{process.pid}").read_text(encoding="utf-8", errors="replace")
        return RankPosition(number, "silent", since, process, {"threads": from_faulthandler(text)}, entry)
    report = process.answers["report"]
    return RankPosition(number, "python", since, process, report, entry, looping=bool(process.sample.get("looping")))


def _request_fallback(process: WatchedProcess) -> None:
    """Let faulthandler write the Python line, on this machine: its signal handler needs no interpreter lock."""
    if process.signal and process.host == os.uname().nodename:
        with suppress(OSError):
            os.kill(process.pid, process.signal)


def from_faulthandler(text: str) -> list[dict[str, Any]]:
    """Return the stack of the main thread from the text of faulthandler: the last thread that is not the agent."""
    threads: list[list[dict[str, Any]]] = []
    for line in text.splitlines():
        if "most recent call first" in line:
            threads.append([])
        elif (match := FAULTHANDLER_LINE.match(line)) and threads:
            own = "site-packages" not in match[1] and f"{os.sep}lib{os.sep}python" not in match[1]
            source = linecache.getline(match[1], int(match[2])).strip()
            frame = {"file": match[1], "line": int(match[2]), "function": match[3], "own": own}
            threads[-1].append({**frame, "call": {"text": source} if source else None})
    main = [each for each in threads if each and not any("apps/watch/rank/" in frame["file"] for frame in each)]
    return [{"name": "MainThread", "main": True, "frames": main[-1]}] if main else []


def _add_file_locks(states: Sequence[RankPosition]) -> None:
    waits = file_lock_waits()
    numbers = {state.process.pid: state.number for state in states if state.process is not None}
    for state in states:
        if state.process is not None and state.process.pid in waits:
            state.file_lock_holder = numbers.get(waits[state.process.pid], -1)
