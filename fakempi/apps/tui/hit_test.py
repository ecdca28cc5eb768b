"""Find the message, compute interval or wait at a rank and time, and describe it with the program's source line."""

from __future__ import annotations

import linecache
import os
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from fakempi.errors import printable
from fakempi.trace.columns import EAGER, ONE_SIDED, SYNCHRONOUS, Columns
from fakempi.trace.waits import STATES, wait_rows
from fakempi.view.numbers import amount, seconds

MAX_SOURCE = 1 << 24
"""Upper limit of the size of a program whose lines are shown, in bytes."""


class Hit(NamedTuple):
    """The description in lines; for a message also its row."""

    lines: list[str]
    message: int = -1


class Found(NamedTuple):
    """A search result: its time and rank, and the row of its region or -1."""

    start: float
    rank: int
    region: int = -1


class HitTester:
    """Finds events by rank and time; the rows are sorted by rank once."""

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        rows = trace.transfer_rows
        self.by_rank = [_grouped(owner, trace.ranks) for owner in (rows["source"], rows["dest"], trace.compute_rows["rank"])]
        self.waits = wait_rows(trace)
        self.of_waits = np.searchsorted(self.waits["rank"], np.arange(trace.ranks + 1))
        self.stuck = {record["rank"]: record for record in (trace.about.get("ended") or {}).get("stuck", [])}

    def at(self, rank: int, start: float, end: float) -> Hit:
        """Return the longest event of a rank between start and end, the time of one character."""
        best: tuple[float, int, int] = (0.0, -1, 0)
        rows, computes = self.trace.transfer_rows, self.trace.compute_rows
        sides = ((rows, "sent"), (rows, "arrived"), (computes, "end"))
        for kind, ((table, last), (order, bounds)) in enumerate(zip(sides, self.by_rank, strict=True)):
            mine = order[bounds[rank] : bounds[rank + 1]]
            inside = np.minimum(table[last][mine], end) - np.maximum(table["start"][mine], start)
            if len(mine) and (longest := int(inside.argmax())) >= 0 and inside[longest] > best[0]:
                best = (float(inside[longest]), kind, int(mine[longest]))
        _, kind, row = best
        if kind in (0, 1):
            return Hit(self.of_message(row), row)
        if kind == 2:
            interval = computes[row]
            start, length = float(interval["start"]), seconds(float(interval["end"] - interval["start"]))
            return Hit([f"rank {rank} computes for {length}, from {seconds(start, 6)}", *self._place(interval["call"])])
        stuck = self.stuck.get(rank)
        if stuck is not None and end > stuck["since"]:
            awaited = "; ".join(want["words"] for want in stuck["wants"])
            return Hit([f"rank {rank} is blocked; it waits for {awaited}", f"{stuck['call']} at {stuck['site']}"])
        return Hit(self._of_wait(rank, (start + end) / 2))

    def next_start(self, rank: int, time: float, step: int) -> float | None:
        """Return the next (step 1) or previous (step -1) start of a message or compute interval of a rank, or None."""
        tables = (self.trace.transfer_rows, self.trace.transfer_rows, self.trace.compute_rows)
        starts = np.concatenate([
            table["start"][order[bounds[rank] : bounds[rank + 1]]]
            for table, (order, bounds) in zip(tables, self.by_rank, strict=True)
        ])
        found = starts[starts > time] if step > 0 else starts[starts < time]
        return None if not len(found) else float(found.min() if step > 0 else found.max())

    def of_message(self, row: int) -> list[str]:
        """Return the description of a message, in up to five lines."""
        message = self.trace.transfer_rows[row]
        times = ", ".join(f"{name} {seconds(float(message[name]), 6)}" for name in ("posted", "start", "arrived"))
        lines = [
            f"rank {message['source']} to rank {message['dest']}: {message['nbytes']} bytes, tag {message['tag']}",
            times,
        ]
        waited = float(message["start"] - message["posted"])
        if waited > 0:
            late = message["posted"] < message["awaited"]
            reasons = {SYNCHRONOUS: "its receive", ONE_SIDED: "its epoch"}
            why = reasons.get(int(message["protocol"]) if late else EAGER, "a port or link")
            lines[-1] += f", waited {seconds(waited)} for {why}"
        lines += self._place(message["call"])
        if isfinite(message["awaited"]) and message["receive_call"] != message["call"]:
            lines += [f"received by {self.trace.calls[message['receive_call']]}"]
        return lines

    def _of_wait(self, rank: int, time: float) -> list[str]:
        mine = self.waits[self.of_waits[rank] : self.of_waits[rank + 1]]
        at = int(np.searchsorted(mine["end"], time, side="right"))
        if at == len(mine) or mine["start"][at] > time:
            return [f"rank {rank} at {seconds(time, 6)}"]
        wait = mine[at]
        length = seconds(float(wait["end"] - wait["start"]))
        return [f"rank {rank} is idle for {length}: {STATES[wait['state']]}", *self._place(wait["call"])]

    def _place(self, number: int) -> list[str]:
        """Return the program's call, and its source line if the file can be read."""
        if not number:
            return []
        call = self.trace.calls[number]
        line = printable(_source_line(call.file, call.line))
        return [str(call), *([f"    {line}"] if line else [])]

    def search(self, text: str) -> list[Found]:
        """Return the calls, compute intervals and named regions with a text in their name, file or algorithm, by time.

        A collective call is found once on each rank, not also by its messages, or by calls of which it is composed.
        """
        text = text.lower()
        fits = np.array([bool(call.line) and text in f"{call} {call.file}".lower() for call in self.trace.calls] or [False])
        named = np.array([bool(name) and text in name.lower() for name in self.trace.names] or [False])
        rows, computes, regions = self.trace.transfer_rows, self.trace.compute_rows, self.trace.region_rows
        in_call = regions["context"] > 0
        outer = self._outermost(in_call)
        itself = outer == np.arange(len(regions))
        chosen = named[regions["algorithm"]] | fits[regions["call"]] | (named[regions["name"]] & itself)
        rows_found = np.unique(outer[chosen])
        starts, ranks = regions["start"][rows_found].tolist(), regions["rank"][rows_found].tolist()
        found = {Found(*each) for each in zip(starts, ranks, rows_found.tolist(), strict=True)}
        alone = ~np.append(in_call, False)[rows["region"]]  # also without a region, which is -1
        of_calls = np.zeros(len(self.trace.calls), bool)
        of_calls[regions["call"][in_call]] = True  # their compute intervals combine data
        for table, rank, matches in (
            (rows, "source", fits[rows["call"]] & alone),
            (rows, "dest", fits[rows["receive_call"]] & ~fits[rows["call"]] & alone),
            (computes, "rank", fits[computes["call"]] & ~of_calls[computes["call"]]),
        ):
            found |= {Found(*each) for each in table[["start", rank]][matches].tolist()}
        return sorted(found)

    def _outermost(self, in_call: Any) -> Any:
        """Return, for each region, the row of the collective call that contains it, or its own row."""
        parents, outer = self.trace.region_rows["parent"], np.arange(len(in_call))
        while (inside := (parents[outer] >= 0) & in_call[parents[outer]]).any():
            outer = np.where(inside, parents[outer], outer)
        return outer

    def of_region(self, row: int) -> list[str]:
        """Return the description of a collective call or a named region."""
        region, names = self.trace.region_rows[row], self.trace.names
        algorithm = names[region["algorithm"]]
        title = f"{names[region['name']]} ({algorithm})" if algorithm else names[region["name"]]
        start, length = float(region["start"]), seconds(float(region["end"] - region["start"]))
        more = f", {amount(int(region['nbytes']))}" if region["context"] else ""
        more += f", root {region['root']}" if region["root"] >= 0 else ""
        line = f"rank {region['rank']} in {title} for {length}, from {seconds(start, 6)}{more}"
        return [line, *self._place(region["call"])]


def _source_line(file: str, line: int) -> str:
    """Return a line of a program. A trace may name any path, also that of a device or of a large file."""
    if file not in linecache.cache and not (os.path.isfile(file) and os.path.getsize(file) <= MAX_SOURCE):
        return ""
    return linecache.getline(file, line).strip()


def _grouped(owner: Any, ranks: int) -> tuple[Any, Any]:
    order = np.argsort(owner, kind="stable")
    return order, np.searchsorted(owner[order], np.arange(ranks + 1))
