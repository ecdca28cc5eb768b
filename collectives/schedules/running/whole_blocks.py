"""WholeBlocks: the buffers of an alltoallw, which has a buffer with its own datatype for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule
from collectives.tools.messages import is_empty


class WholeBlocks:
    """The blocks of one side of an alltoallw as one buffer, of which only whole blocks can be taken.

    A rank's block for itself, `own`, may be None: then the caller has copied it.
    """

    itemsize = 1

    def __init__(self, blocks: Sequence[Any], sizes: Sequence[int], own: int) -> None:
        if len(blocks) != len(sizes):
            raise ValueError(f"there must be one block for each of the {len(sizes)} ranks, but there are {len(blocks)}")
        for other, (block, size) in enumerate(zip(blocks, sizes, strict=True)):
            if other != own and is_empty(block) != (size == 0):
                state = "is not empty" if size == 0 else "is empty"
                raise ValueError(f"block {other} {state}, but in the schedule it has {size} bytes")
        ends = pairwise(accumulate(sizes, initial=0))
        self._blocks = {end: block for end, block in zip(ends, blocks, strict=True) if end[0] < end[1]}

    def __getitem__(self, part: slice) -> Any:
        return self._blocks[part.start, part.stop]


def check_whole_blocks(schedule: Schedule) -> None:
    """Raise InvalidScheduleError unless an alltoallw's schedule moves whole blocks: parts could not have any datatype."""
    rows = schedule.counts
    widths = [len(schedule.sides(rank)[1]) for rank in range(schedule.ranks)]
    if rows is None or [len(row) if isinstance(row, Sequence) else -1 for row in rows] != widths:
        raise InvalidScheduleError("alltoallw needs `counts`, for each rank the bytes to each rank")
    matrix: Any = rows
    for rank, index, step in schedule:
        own, other = schedule.sides(rank)
        columns = {"input": matrix[rank], "output": [matrix[source][rank - own.start] for source in other]}
        for where in (step.source, step.target):
            if where is not None and (where.offset, where.stop) not in _ends(columns.get(where.buffer, ())):
                raise InvalidScheduleError(
                    f"{schedule.place(rank, index)}: {step}: the schedule of an alltoallw must move whole blocks, since "
                    "each has its own datatype"
                )


def _ends(sizes: Any) -> set[tuple[int, int]]:
    return {*pairwise(accumulate(sizes, initial=0))}
