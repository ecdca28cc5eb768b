"""The first round in which a run differs from the schedule, as a table of claimed and actual messages per rank."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collectives.catalogue.schedule import LinearPhase, Round, Streams, Transfer, clocks
from collectives.tools.plurals import counted
from collectives.verification.machine import RunMessage, Setting

MAX_ROWS = 12
"""Rows of a table; with more ranks, only ranks that differ are shown."""


class RankRow(NamedTuple):
    """The messages of one rank in a round: in the schedule, in the run, and whether they differ."""

    rank: int
    claimed: str
    actual: str
    differs: bool


def first_difference(
    schedule: Sequence[Round], transfers: Sequence[RunMessage], ranks: int, setting: Setting
) -> tuple[int, list[RankRow]] | None:
    """Return the first round that differs from the schedule, counted from 1, with a row for each rank.

    Messages after the last round belong to an additional round. Returns None if the run matches the schedule.
    """
    queues: dict[int, deque[RunMessage]] = defaultdict(deque)
    for message in transfers:
        queues[message.source].append(message)
    timed = setting.eager_limit == 0 and setting.late < 0
    remaining = Counter(transfer.source for planned in schedule for transfer in planned)
    for number, planned in enumerate(schedule, 1):
        due: dict[int, list[tuple[Transfer, float | None]]] = defaultdict(list)
        for transfer, start in _starts(schedule, number - 1, ranks, setting):
            due[transfer.source].append((transfer, start if timed else None))
        rows = [
            _row(rank, due[rank], queues[rank], isinstance(planned, LinearPhase), remaining[rank]) for rank in range(ranks)
        ]
        if any(row.differs for row in rows):
            return number, rows
        for rank, sends in due.items():
            remaining[rank] -= len(sends)
            for _ in sends:
                queues[rank].popleft()
    rows = [_row(rank, [], queues[rank], False, 0) for rank in range(ranks)]
    return (len(schedule) + 1, rows) if any(row.differs for row in rows) else None


def _starts(schedule: Sequence[Round], index: int, ranks: int, setting: Setting) -> Iterator[tuple[Transfer, float | None]]:
    """Yield a round's transfers with their start times; None for LinearPhase and Streams, where they are not computed."""
    planned = schedule[index]
    if isinstance(planned, LinearPhase | Streams):
        yield from ((transfer, None) for transfer in planned)
        return
    before = clocks(schedule[:index], ranks, setting.t_s, setting.t_w, setting.c)
    yield from ((transfer, float(max(before[transfer.source], before[transfer.dest]))) for transfer in planned)


def _row(
    rank: int, due: Sequence[tuple[Transfer, float | None]], queue: deque[RunMessage], any_order: bool, remaining: int
) -> RankRow:
    """Compare a rank's scheduled messages with the same number of sent ones; with one if none is scheduled any more."""
    sent = list(queue)[: len(due) if remaining else 1]
    claimed = [(transfer.dest, transfer.nbytes) for transfer, _ in due]
    actual = [(message.dest, message.nbytes) for message in sent]
    if any_order:
        claimed, actual = sorted(claimed), sorted(actual)
    differing_starts = [
        start for (_, start), message in zip(due, sent, strict=False) if start is not None and start != message.start
    ]
    if claimed != actual or not differing_starts:
        return RankRow(rank, _describe(claimed), _describe(actual), claimed != actual)
    starts = [start for _, start in due if start is not None]
    return RankRow(rank, f"{_describe(claimed)} at {starts[0]:g}", f"{_describe(actual)} at {sent[0].start:g}", True)


def _describe(messages: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{counted(nbytes, 'byte')} to {dest}" for dest, nbytes in messages) or "nothing"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text with aligned columns.

    >>> table(["rank", "claimed"], [["0", "1 byte to 2"], ["1", ""]])
    ['rank   claimed', '0      1 byte to 2', '1']
    """
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def side_by_side(rows: Sequence[RankRow]) -> list[str]:
    """Return a table of claimed and actual messages, one line per rank."""
    shown = list(rows) if len(rows) <= MAX_ROWS else [row for row in rows if row.differs][:MAX_ROWS]
    cells = [[str(row.rank), row.claimed, row.actual, "<" if row.differs else ""] for row in shown]
    lines = table(["rank", "claimed", "actual", ""], cells)
    hidden = len(rows) - len(shown)
    return lines + ([f"and {counted(hidden, 'more rank')}"] if hidden else [])


def round_end_times(schedule: Sequence[Round], ranks: int, setting: Setting) -> list[str]:
    """Return a table of the times at which the rounds of a schedule end."""
    costs = setting.t_s, setting.t_w, setting.c
    ends = [max(clocks(schedule[: number + 1], ranks, *costs)) for number in range(len(schedule))]
    rows = zip(map(len, schedule), ends, strict=True)
    cells = [[str(number), str(count), str(end)] for number, (count, end) in enumerate(rows, 1)]
    if len(cells) > MAX_ROWS:
        cells = [*cells[: MAX_ROWS // 2], ["...", "", ""], *cells[-MAX_ROWS // 2 :]]
    return table(["round", "messages", "end"], cells)
