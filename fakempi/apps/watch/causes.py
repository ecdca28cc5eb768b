"""The likely causes of a hang, one sentence each, the most certain first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fakempi.apps.watch.blocked import Waits
from fakempi.apps.watch.mpi_calls import is_mpi, operation
from fakempi.apps.watch.positions import RankPosition, blocking_call, own_frame
from fakempi.apps.watch.rank.calls import COMMUNICATORS
from fakempi.core.reports.ranks import Names
from fakempi.errors.paths import place_at

Cause = Callable[[Sequence[RankPosition], Waits, Names], Iterator[str]]


def causes(states: Sequence[RankPosition], waits: Waits, names: Names) -> list[str]:
    """Return the causes that apply."""
    found = list(dict.fromkeys(text for cause in CAUSES for text in cause(states, waits, names)))
    if found or waits.near_misses():
        return found
    return list(missing_ranks(states, waits, names))


def place(state: RankPosition) -> str:
    """Return the line at which the main thread of a rank is."""
    if not state.threads:
        return "an unknown line"
    frame = own_frame(state.threads[0])
    return place_at(str(frame["file"]), int(frame["line"]))


def different_tests(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """Ranks run different tests of pytest: a test failed or was skipped on some ranks only."""
    tests: dict[str, list[int]] = {}
    for state in states:
        if state.kind in ("python", "silent"):
            tests.setdefault(state.test, []).append(state.number)
    for short in [each for each in tests if "/" not in each]:  # from the stack of a rank that did not answer
        full = next((each for each in tests if each.partition("[")[0].endswith(f"/{short}")), None)
        if full is not None:
            tests[full] += tests.pop(short)
    if "" in tests:
        tests["no test"] = tests.pop("")
    if len(tests) > 1:
        yield "ranks are in different tests: " + "; ".join(f"{names.text(ranks)}: {test}" for test, ranks in tests.items())


def left(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """A rank raised an exception, called sys.exit or reached the end of its program, while others wait."""
    for state in states:
        report = state.report
        if state.kind not in ("left", "ended") or not any(each.kind in ("python", "silent") for each in states):
            continue
        name, status = names.name(state.number), report.get("exit") or {}
        after = " and waits in MPI_Finalize" if state.kind == "left" else ""
        if report.get("raised"):
            yield f"{name} raised {report['raised']} at {place_at(str(report['file']), int(report['line']))}{after}"
        elif status:
            place_of_exit = place_at(str(status["file"]), int(status["line"]))
            argument = "" if status.get("status") == "None" else status.get("status")
            yield f"{name} called sys.exit({argument}) at {place_of_exit}{after}"
        elif state.kind == "left":
            yield f"{name} has reached the end of its program{after}"
        elif state.process is not None and state.process.left is None:
            yield f"the process of {name} has ended without the end of its program (killed, os._exit, or a crash)"


def different_collectives(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """Ranks of one communicator call different collective operations."""
    for calls in _collective_calls(states, waits).values():
        operations: dict[tuple[str, str], list[int]] = {}
        for number, (label, where) in calls.items():
            operations.setdefault((label, where), []).append(number)
        kinds = {label.lower().removeprefix("i") for label, _ in operations}
        if len(kinds) > 1:
            text = "; ".join(f"{names.text(ranks)}: {label} at {where}" for (label, where), ranks in operations.items())
            yield f"different collective calls on one communicator: {text}"


def missing_ranks(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """Ranks are not in the collective operation of the others: the cause if nothing else is known."""
    by_number = {state.number: state for state in states if state.kind in ("python", "silent")}
    for members, calls in _collective_calls(states, waits).items():
        absent = [by_number[each] for each in members if each not in calls and each in by_number]
        if absent:
            label, at = next(iter(calls.values()))[0], ", ".join(dict.fromkeys(map(place, absent)))
            verb = "is" if len(absent) == 1 else "are"
            yield f"{names.text(state.number for state in absent)} {verb} not in {label}, but at {at}"


def _collective_calls(states: Sequence[RankPosition], waits: Waits) -> dict[tuple[int, ...], dict[int, tuple[str, str]]]:
    """Return for each group of members the collective calls of ranks: name and line."""
    found: dict[tuple[int, ...], dict[int, tuple[str, str]]] = {}
    for state in states:
        call = waits.calls[state.number]
        if call and operation(call) and call.get("class") in COMMUNICATORS and waits.members(state, call):
            remote = waits.members(state, call, remote=True) if "remote" in (call.get("comm") or {}) else []
            members = tuple(sorted({*waits.members(state, call), *remote}))
            found.setdefault(members, {})[state.number] = str(call["name"]), place(state)
    return found


def file_locks(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """A rank waits for a lock of a file."""
    for state in states:
        if state.file_lock_holder is not None:
            holder = names.name(state.file_lock_holder) if state.file_lock_holder >= 0 else "another process"
            yield f"{names.name(state.number)} waits at {place(state)} for the lock of a file that {holder} holds"


def not_in_mpi(states: Sequence[RankPosition], waits: Waits, names: Names) -> Iterator[str]:
    """Ranks outside of MPI: in a lock, in sleep, in a loop, or in C code that holds the interpreter lock."""
    for state in states:
        name = names.name(state.number)
        if state.kind == "silent":
            entry = state.entry
            stopped = entry is not None and entry.state in ("T", "t")
            in_c = "C code holds the interpreter lock: MPI within a library, or a long computation"
            why = "its process is stopped" if stopped else in_c
            yield f"{name} does not answer at {place(state)}: {why}"
        elif state.kind == "program" and state.entry is not None:
            yield f"{name} is not a watched Python process: {state.entry.name} (process {state.entry.pid})"
        elif state.kind == "python" and state.threads and state.file_lock_holder is None:
            call = blocking_call(state.threads[0])
            if state.looping:
                yield f"{name} is in an endless loop at {place(state)}: no instruction of the loop changes a value"
            elif call is not None and not is_mpi(call):
                what = call.get("function", call["text"])
                yield f"{name} is not in an MPI call, but in {what} at {place(state)}{_locks(state, call)}"


def _locks(state: RankPosition, call: Mapping[str, Any]) -> str:
    """Return the words about a lock and the other threads of the rank."""
    innermost = (state.threads[0].get("frames") or [{}])[0].get("call") or {}
    if not (call.get("lock") or innermost.get("lock") or str(call.get("module")) in ("_thread", "threading")):
        return ""
    others = [thread for thread in state.threads[1:] if own_frame(thread).get("own")]
    text = []
    for thread in others:
        frame = own_frame(thread)
        what = (frame.get("call") or {}).get("function", "?")
        text.append(f"thread {thread['name']!r} is in {what} at {place_at(str(frame['file']), int(frame['line']))}")
    return ", and waits for another thread" + (f": {'; '.join(text)}" if text else "")


CAUSES: Sequence[Cause] = (different_tests, left, different_collectives, file_locks, not_in_mpi)
