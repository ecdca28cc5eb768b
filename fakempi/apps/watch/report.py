"""The report of a hang: the parts of the emulator's deadlock report, and what is known only of real processes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from fakempi.apps.watch.blocked import Waits
from fakempi.apps.watch.causes import causes
from fakempi.apps.watch.connections import WatchedProcess
from fakempi.apps.watch.emulator_command import emulator_command
from fakempi.apps.watch.positions import RankPosition, group_offsets
from fakempi.core.reports.deadlock import LINES, ReportText, find_cycle
from fakempi.core.reports.ranks import Names, ranks_text
from fakempi.errors.plurals import counted


class GroupNames(Names):
    """Names of ranks; of a second group, with the program that it runs, as the line that spawned it is unknown."""

    def _group_suffix(self, group: int) -> str:
        return f" of {self.places[group]}" if group else ""


def group_names(states: Sequence[RankPosition], offsets: dict[int, int]) -> GroupNames:
    """Return the names: each group of ranks is a separate world."""
    names = GroupNames()
    for group, first in sorted(offsets.items()):
        argv = next((each.report.get("argv") for each in states if _group(each) == group and each.report.get("argv")), None)
        script = next((os.path.basename(word) for word in argv or () if word.endswith(".py")), f"group {group + 1}")
        names.add(first, f"another group ({script})")
    return names


def _group(state: RankPosition) -> int:
    return state.process.group if state.process is not None else 0


def report_text(
    states: Sequence[RankPosition], ranks: Sequence[WatchedProcess], headline: str, command: Sequence[str]
) -> str:
    """Return the report. Times are in seconds since the start of the command."""
    offsets = group_offsets(ranks)
    names = group_names(states, offsets)
    sizes = {group: max(each.size or 1 for each in ranks if each.group == group) for group in offsets}
    waits = Waits(states, offsets, sizes)
    text, blocked = ReportText(names), waits.records()
    lines = [headline, *(f"  {line}" for line in _shortened(text.states(blocked)))]
    lines += [f"  {line}" for line in _ended_lines(states, names)]
    cycle = find_cycle(blocked)
    if cycle:
        lines.append(f"  cycle: {text.cycle(cycle)}")
    lines += [f"  near miss: {line}" for line in _shortened(text.misses(waits.near_misses()))]
    lines += [f"  likely cause: {line}" for line in _shortened(causes(states, waits, names))]
    lines += _tests(states, names) + _tracebacks(states, names) + _last_output(states, names)
    if trial := emulator_command(command):
        lines.append(f"  try the program on the emulator: {shlex.join(trial)}")
    return "\n".join(lines) + "\n"


def _shortened(lines: Sequence[str]) -> list[str]:
    if len(lines) <= LINES:
        return list(lines)
    return [*lines[: LINES - 1], f"... and {counted(len(lines) - LINES + 1, 'more line')}"]


def _ended_lines(states: Sequence[RankPosition], names: Names) -> list[str]:
    """Return one line for all ranks in the same state of those that have ended, or that are not Python."""
    kinds: dict[str, list[int]] = {}
    for state in states:
        if state.kind == "left":
            kinds.setdefault("the program has ended; the process is in MPI_Finalize or ends", []).append(state.number)
        elif state.kind == "ended":
            kinds.setdefault("the process has ended", []).append(state.number)
        elif state.kind == "program" and state.entry is not None:
            kinds.setdefault(f"{state.entry.name}, which is not a watched Python process", []).append(state.number)
    return [f"{names.text(numbers)}: {text}" for text, numbers in kinds.items()]


def _tests(states: Sequence[RankPosition], names: Names) -> list[str]:
    """Return the test of each rank, if all run the same: other cases are a cause."""
    tests = {state.test for state in states if state.kind in ("python", "silent")}
    return [f"  test: {test}" for test in tests if test and len(tests) == 1]


def _tracebacks(states: Sequence[RankPosition], names: Names) -> list[str]:
    lines = []
    for state in states:
        if state.report.get("traceback"):
            lines.append(f"  {names.name(state.number)} raised:")
            lines += [f"    {line}" for line in str(state.report["traceback"]).rstrip().splitlines()[-20:]]
    return lines


def _last_output(states: Sequence[RankPosition], names: Names) -> list[str]:
    """Return the last line that each rank has printed; equal lines once."""
    groups: dict[tuple[str, str], list[int]] = {}
    for state in states:
        for stream, line in (state.report.get("output") or {}).items():
            if not (state.report.get("raised") and stream == "stderr"):
                groups.setdefault((stream, line), []).append(state.number)
    lines = []
    for (stream, line), numbers in groups.items():
        which = "" if stream == "stdout" else " (stderr)"
        lines.append(f"  last output of {names.text(numbers)}{which}: {line}")
    return _shortened(lines)


def headline(idle: float, elapsed: float, count: int, reason: str) -> str:
    """Return the first line: the verdict, or why the report is written without one."""
    ranks = ranks_text(range(count)) if count else "no rank"
    since = f"t is in seconds since the start, {elapsed:.0f} s ago"
    if not reason:
        return f"fakempi watch: the program hangs: none of {ranks} has moved for {idle:.0f} s ({since})."
    return f"fakempi watch: {reason}: positions of {ranks}; the last movement was {idle:.0f} s ago ({since})."
