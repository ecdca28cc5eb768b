"""Schedules in GOAL, the text format of LogGOPSim and ATLAHS.

    num_ranks 2
    rank 0 {
    l1: send 8b to 1 tag 7
    l2: calc 100
    l2 requires l1
    }
    rank 1 {
    l1: recv 8b from 0 tag 7
    }

One statement per line; `calc` is in nanoseconds; `requires` waits for the end of another operation, `irequires` for its
start. GOAL has sizes but no buffers. A file that `write` produces also has comments that start with `// fakempi`: they give
the buffer ranges and local operations, so that reading it returns the same schedule. Other programs ignore them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from collectives.schedules import json_format
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal_writing import HEADER, NOTE
from collectives.schedules.goal_writing import write as write
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range, Step

OPERATION = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?(?:"
    r"(?P<kind>send|recv)\s+(?P<size>\d+)\s*b\s+(?P<way>to|from)\s+(?P<peer>-?\d+)(?:\s+tag\s+(?P<tag>-?\d+))?"
    r"|calc\s+(?P<calc>\d+))(?:\s+cpu\s+\d+)?(?:\s+nic\s+\d+)?$"
)
DEPENDENCY = re.compile(r"(?P<label>[A-Za-z]\w*)\s+(?P<kind>i?requires)\s+(?P<other>[A-Za-z]\w*)$")
MAX_RANKS = 1 << 20
MAX_DIGITS = 15
"""Longer numbers of bytes, tags and nanoseconds are rejected."""


@dataclass
class _Rank:
    """The operations of a rank while its lines are read."""

    steps: list[Step] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    dependencies: list[tuple[int, str, str, str]] = field(default_factory=list)  # line, label, kind, other label


def read(text: str) -> Schedule:
    """Return the schedule of a GOAL text; InvalidScheduleError with the line if it is invalid."""
    header: dict[str, Any] = {}
    ranks: list[_Rank | None] = []
    current: _Rank | None = None
    note: Step | None = None
    in_comment = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
            line = "" if in_comment else line.partition("*/")[2].strip()
        if line.startswith(HEADER):
            header = _json(line[len(HEADER) :], number)
        elif line.startswith(NOTE):
            note = _read_note(_json(line[len(NOTE) :], number), number)
        elif not line or line.startswith("//"):
            continue
        elif match := re.fullmatch(r"num_ranks\s+(\d+)", line):
            if ranks or not 1 <= _integer(match[1], number) <= MAX_RANKS:
                raise InvalidScheduleError(f"line {number}: num_ranks must occur once, with a number from 1 to {MAX_RANKS}")
            ranks = [None] * int(match[1])
        elif match := re.fullmatch(r"rank\s+(\d+)\s*\{", line):
            rank = _integer(match[1], number)
            if current is not None or rank >= len(ranks) or ranks[rank] is not None:
                raise InvalidScheduleError(
                    f"line {number}: rank {rank} is inside another rank, occurs twice, or is not below num_ranks"
                )
            current = ranks[rank] = _Rank()
        elif line == "}" and current is not None:
            current = None
        elif current is None:
            raise InvalidScheduleError(f"line {number}: expected `num_ranks N` or `rank R {{`, not {line[:60]!r}")
        else:
            _statement_in(current, line, number, note, len(ranks))
            note = None
    if not ranks or current is not None or None in ranks:
        missing = "num_ranks" if not ranks else "closing brace" if current is not None else f"rank {ranks.index(None)}"
        raise InvalidScheduleError(f"the file has no {missing}")
    return _schedule([rank for rank in ranks if rank is not None], header)


def _statement_in(rank: _Rank, line: str, number: int, note: Step | None, ranks: int) -> None:
    """Add the operation or dependency of a line to a rank."""
    if match := DEPENDENCY.fullmatch(line):
        rank.dependencies.append((number, match["label"], match["kind"], match["other"]))
        return
    match = OPERATION.fullmatch(line)
    if match is None or (match["kind"] and match["way"] != {"send": "to", "recv": "from"}[match["kind"]]):
        raise InvalidScheduleError(f"line {number}: expected send, recv, calc, requires or irequires, not {line[:60]!r}")
    if match["label"]:
        if match["label"] in rank.labels:
            raise InvalidScheduleError(f"line {number}: label {match['label']} occurs twice in this rank")
        rank.labels[match["label"]] = len(rank.steps)
    rank.steps.append(_operation(match, number, note, ranks))


def _operation(match: re.Match[str], number: int, note: Step | None, ranks: int) -> Step:
    if match["calc"] is not None:
        seconds = _integer(match["calc"], number) * 1e-9
        if note is None:
            return Step("compute", seconds=seconds)
        if note.kind in ("send", "recv"):
            raise InvalidScheduleError(f"line {number}: the comment before describes a {note.kind}, but the line is a calc")
        return note
    peer, tag = _integer(match["peer"], number), _integer(match["tag"] or "0", number)
    if peer < 0 or tag < 0:
        raise InvalidScheduleError(f"line {number}: wildcards are not supported, since timing decides what they match")
    if peer >= ranks:
        raise InvalidScheduleError(f"line {number}: rank {peer} does not exist, num_ranks is {ranks}")
    nbytes = _integer(match["size"], number)
    if note is not None and (note.kind != match["kind"] or note.nbytes != nbytes):
        raise InvalidScheduleError(
            f"line {number}: {nbytes} bytes by {match['kind']} contradict the comment before, {note.nbytes} by {note.kind}"
        )
    if note is not None:
        return replace(note, peer=peer, tag=tag)
    where = Range(UNKNOWN, 0, nbytes) if nbytes else None
    if match["kind"] == "send":
        return Step("send", peer, tag, source=where)
    return Step("recv", peer, tag, target=where)


def _schedule(ranks: Sequence[_Rank], header: dict[str, Any]) -> Schedule:
    """Resolve labels and build the schedule."""
    all_steps: list[list[Step]] = []
    labels: dict[tuple[int, int], str] = {}
    for rank, program in enumerate(ranks):
        after: list[list[int]] = [[] for _ in program.steps]
        after_start: list[list[int]] = [[] for _ in program.steps]
        for number, label, kind, other in program.dependencies:
            for name in (label, other):
                if name not in program.labels:
                    raise InvalidScheduleError(f"line {number}: rank {rank} has no label {name}")
            (after if kind == "requires" else after_start)[program.labels[label]].append(program.labels[other])
        all_steps.append(
            [
                replace(step, after=tuple(a), after_start=tuple(b))
                for step, a, b in zip(program.steps, after, after_start, strict=True)
            ]
        )
        labels |= {(rank, index): label for label, index in program.labels.items()}
    if header:
        empty = json_format.read(json.dumps(header | {"steps": [[] for _ in ranks]}))
        return replace(empty, steps=all_steps, labels=labels)
    return Schedule(len(ranks), all_steps, [{} for _ in ranks], labels=labels)


def _json(text: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidScheduleError(f"line {number}: the comment is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidScheduleError(f"line {number}: the comment must be a JSON object")
    return value


def _read_note(data: dict[str, Any], number: int) -> Step:
    kind = str(data.pop("kind", None))
    value = 0 if kind in ("send", "recv", "compute") else None
    try:
        return json_format._step_in({kind: value} | data, "the comment")
    except InvalidScheduleError as error:
        raise InvalidScheduleError(f"line {number}: {error}") from None


def _integer(text: str, number: int) -> int:
    if len(text) > MAX_DIGITS:
        raise InvalidScheduleError(f"line {number}: the number {text[:20]}... is too large")
    return int(text)
