"""The round where paper and run part, as a small table: what every rank sends in it on paper, and what it sent."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collectives.catalogue.schedule import Round, Served, Streams, Transfer, clocks
from collectives.verification.machine import Message, Setting

ROWS = 12
"""Ranks that are shown; of more than that, those in which the two differ."""


class Row(NamedTuple):
    """One rank's line: on paper, in the run, and whether they differ."""

    rank: int
    paper: str
    run: str
    differs: bool


def parting(
    plan: Sequence[Round], transfers: Sequence[Message], ranks: int, setting: Setting
) -> tuple[int, list[Row]] | None:
    """The first round that did not take place as it is on paper, counted from 1, with a row for each rank.

    What is sent after the last round is in a round of its own. None if all took place, and nothing else.
    """
    queues: dict[int, deque[Message]] = defaultdict(deque)
    for message in transfers:
        queues[message.source].append(message)
    timed = setting.eager_limit == 0 and setting.late < 0
    left = Counter(transfer.source for planned in plan for transfer in planned)
    for number, planned in enumerate(plan, 1):
        due: dict[int, list[tuple[Transfer, float | None]]] = defaultdict(list)
        for transfer, start in _starts(plan, number - 1, ranks, setting):
            due[transfer.source].append((transfer, start if timed else None))
        rows = [_row(rank, due[rank], queues[rank], isinstance(planned, Served), left[rank]) for rank in range(ranks)]
        if any(row.differs for row in rows):
            return number, rows
        for rank, sends in due.items():
            left[rank] -= len(sends)
            for _ in sends:
                queues[rank].popleft()
    rows = [_row(rank, [], queues[rank], False, 0) for rank in range(ranks)]
    return (len(plan) + 1, rows) if any(row.differs for row in rows) else None


def _starts(plan: Sequence[Round], at: int, ranks: int, setting: Setting) -> Iterator[tuple[Transfer, float | None]]:
    """A round's transfers with the times at which they begin; not of streams, where that is more than a maximum."""
    planned = plan[at]
    if isinstance(planned, Served | Streams):
        yield from ((transfer, None) for transfer in planned)
        return
    before = clocks(plan[:at], ranks, setting.t_s, setting.t_w, setting.c)
    yield from ((transfer, float(max(before[transfer.source], before[transfer.dest]))) for transfer in planned)


def _row(rank: int, due: Sequence[tuple[Transfer, float | None]], queue: deque[Message], any_order: bool, left: int) -> Row:
    """What a rank is to send now, and as many messages that it did send; or one, if nothing is left for it on paper."""
    sent = list(queue)[: len(due) if left else 1]
    paper = [(transfer.dest, transfer.nbytes) for transfer, _ in due]
    run = [(message.dest, message.nbytes) for message in sent]
    if any_order:
        paper, run = sorted(paper), sorted(run)
    late = [
        (start, message.start)
        for (_, start), message in zip(due, sent, strict=False)
        if start is not None and start != message.start
    ]
    if paper != run or not late:
        return Row(rank, _words(paper), _words(run), paper != run)
    at = [start for _, start in due if start is not None]
    return Row(rank, f"{_words(paper)} at {at[0]:g}", f"{_words(run)} at {sent[0].start:g}", True)


def _words(messages: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{amount(nbytes)} to {dest}" for dest, nbytes in messages) or "nothing"


def amount(nbytes: int) -> str:
    """Bytes in words."""
    return f"{nbytes} byte{'' if nbytes == 1 else 's'}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text in columns.

    >>> table(["rank", "on paper"], [["0", "1 byte to 2"], ["1", ""]])
    ['rank   on paper', '0      1 byte to 2', '1']
    """
    cells = [list(heads), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def beside(rows: Sequence[Row]) -> list[str]:
    """Paper and run beside each other, rank by rank."""
    shown = list(rows) if len(rows) <= ROWS else [row for row in rows if row.differs][:ROWS]
    cells = [[str(row.rank), row.paper, row.run, "<" if row.differs else ""] for row in shown]
    lines = table(["rank", "on paper", "in the run", ""], cells)
    left = len(rows) - len(shown)
    return lines + ([f"and {left} more ranks"] if left else [])


def rounds_ended(plan: Sequence[Round], ranks: int, setting: Setting) -> list[str]:
    """When the rounds of a schedule end, for whoever has another sum: the last lines are the longest path."""
    costs = setting.t_s, setting.t_w, setting.c
    ends = [max(clocks(plan[: number + 1], ranks, *costs)) for number in range(len(plan))]
    cells = [[str(number), str(len(sends)), str(end)] for number, (sends, end) in enumerate(zip(plan, ends, strict=True), 1)]
    if len(cells) > ROWS:
        cells = [*cells[: ROWS // 2], ["...", "", ""], *cells[-ROWS // 2 :]]
    return table(["round", "messages", "over at"], cells)
