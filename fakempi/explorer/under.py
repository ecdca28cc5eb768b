"""What there is at a moment of a rank: a message, computing or a wait, in words, with the line of the program."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from fakempi.trace.columns import Columns
from fakempi.trace.waits import STATES, wait_rows
from fakempi.view.numbers import seconds


class Found(NamedTuple):
    """What is there, in lines; if it is a message, its row."""

    lines: list[str]
    message: int = -1


class Finder:
    """Looks things up by rank and time; what it needs for that is put in order once."""

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        rows = trace.transfer_rows
        self.by_rank = [_grouped(whose, trace.ranks) for whose in (rows["source"], rows["dest"], trace.compute_rows["rank"])]
        self.waits = wait_rows(trace)
        self.of_waits = np.searchsorted(self.waits["rank"], np.arange(trace.ranks + 1))
        self.stuck = {one["rank"]: one for one in (trace.about.get("ended") or {}).get("stuck", [])}

    def at(self, rank: int, start: float, end: float) -> Found:
        """What the rank does from start to end, a character's time: what is longest there."""
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
            return Found(self.of_message(row), row)
        if kind == 2:
            one = computes[row]
            start, length = float(one["start"]), seconds(float(one["end"] - one["start"]))
            return Found([f"rank {rank} computes for {length}, from {seconds(start, 6)}", *self._place(one["call"])])
        stuck = self.stuck.get(rank)
        if stuck is not None and end > stuck["since"]:
            what = "; ".join(want["words"] for want in stuck["wants"])
            return Found([f"rank {rank} waits for ever, for {what}", f"{stuck['call']} at {stuck['site']}"])
        return Found(self._of_wait(rank, (start + end) / 2))

    def of_message(self, row: int) -> list[str]:
        """A message in four lines."""
        one = self.trace.transfer_rows[row]
        times = ", ".join(f"{name} {seconds(float(one[name]), 6)}" for name in ("posted", "start", "arrived"))
        lines = [f"rank {one['source']} to rank {one['dest']}: {one['nbytes']} bytes, tag {one['tag']}", times]
        waited = float(one["start"] - one["posted"])
        if waited > 0:
            why = "its receive" if one["posted"] < one["awaited"] <= one["start"] else "a busy port"
            lines[-1] += f", waited {seconds(waited)} for {why}"
        lines += self._place(one["call"])
        if isfinite(one["awaited"]) and one["receive_call"] != one["call"]:
            lines += [f"received by {self.trace.calls[one['receive_call']]}"]
        return lines

    def _of_wait(self, rank: int, time: float) -> list[str]:
        mine = self.waits[self.of_waits[rank] : self.of_waits[rank + 1]]
        at = int(np.searchsorted(mine["end"], time, side="right"))
        if at == len(mine) or mine["start"][at] > time:
            return [f"rank {rank} at {seconds(time, 6)}"]
        one = mine[at]
        length = seconds(float(one["end"] - one["start"]))
        return [f"rank {rank} is idle for {length}: {STATES[one['state']]}", *self._place(one["call"])]

    def _place(self, number: int) -> list[str]:
        """Where the program called, and that line of it, if it can be read here."""
        if not number:
            return []
        call = self.trace.calls[number]
        line = linecache.getline(call.file, call.line).strip()
        return [str(call), *([f"    {line}"] if line else [])]

    def search(self, words: str) -> Iterator[tuple[int, float]]:
        """Ranks and times of messages, computing and regions whose call, file or name has the words in it, by time."""
        words = words.lower()
        fits = np.array([bool(call.line) and words in f"{call} {call.file}".lower() for call in self.trace.calls] or [False])
        named = np.array([bool(name) and words in name.lower() for name in self.trace.names] or [False])
        rows, computes, regions = self.trace.transfer_rows, self.trace.compute_rows, self.trace.region_rows
        hits: list[Any] = []
        for table, whose, chosen in (
            (rows, "source", fits[rows["call"]]),
            (rows, "dest", fits[rows["receive_call"]] & ~fits[rows["call"]]),
            (computes, "rank", fits[computes["call"]]),
            (regions, "rank", named[regions["name"]] | named[regions["algorithm"]]),
        ):
            hits += zip(table["start"][chosen].tolist(), table[whose][chosen].tolist(), strict=True)
        return ((rank, time) for time, rank in sorted(hits))


def _grouped(whose: Any, ranks: int) -> tuple[Any, Any]:
    order = np.argsort(whose, kind="stable")
    return order, np.searchsorted(whose[order], np.arange(ranks + 1))
