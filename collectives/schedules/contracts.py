"""Postconditions of an operation, called demands: the contributions that each byte of each output must hold at the end.

A contribution is a byte of a rank's input, written as (rank, offset). A byte of an output holds a sequence of
contributions: one for operations that move data, one per operand for reductions, in the order of combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from collectives.schedules.contract_files import Piece, read_contract
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule
from collectives.schedules.work import check_ranks

Contributions = tuple[tuple[int, int], ...]
"""(rank, offset) of each operand, from left to right."""

NAMES: Final = {"bcast": "broadcast", "reduce-scatter": "reduce_scatter", "reducescatter": "reduce_scatter",
                "reduce_scatter_block": "reduce_scatter", "all-to-all": "alltoall", "alltoallv": "alltoall",
                "alltoallw": "alltoall",
                "allgatherv": "allgather", "gatherv": "gather", "scatterv": "scatter"}  # fmt: skip
"""Other name of an operation -> the name in this module."""


def demands(schedule: Schedule, operation: str) -> list[list[Piece]]:
    """Return the demanded pieces of the outputs, by rank.

    Raises InvalidScheduleError if the operation is unknown or a piece is not within the buffers.
    """
    name = NAMES.get(operation, operation)
    if operation.endswith(".json"):
        return _checked(schedule, operation, read_contract(operation, schedule.ranks))
    if name in ("barrier", *DEMANDS):
        check_ranks(schedule, name)
    if name == "barrier":
        return [[] for _ in range(schedule.ranks)]
    if name not in DEMANDS:
        names = ", ".join(sorted({*DEMANDS, "barrier"}))
        problem = f"unknown operation {operation!r}" if operation else "the schedule does not name its operation"
        raise InvalidScheduleError(f"{problem}; verified are {names}, and any operation that a contract (*.json) describes")
    if schedule.groups is not None and name in ("scan", "exscan"):
        raise InvalidScheduleError(f"MPI has no {name} between two groups")
    inputs, outputs = _buffer_sizes(schedule)
    if not schedule.has_ranges:  # the sizes are not known, and the contributing ranks do not depend on them
        inputs = outputs = [schedule.ranks if name == "alltoall" else 1] * schedule.ranks
    pieces = [
        [piece for piece in DEMANDS[name](schedule, rank, inputs, outputs) if piece[1]] for rank in range(schedule.ranks)
    ]
    return _checked(schedule, operation, pieces)


def _checked(schedule: Schedule, operation: str, pieces: list[list[Piece]]) -> list[list[Piece]]:
    """Return the pieces unchanged, or raise InvalidScheduleError if a piece is not within the buffers."""
    inputs, outputs = _buffer_sizes(schedule)
    if not schedule.has_ranges:
        return pieces
    for rank, demanded in enumerate(pieces):
        for start, nbytes, operands in demanded:
            for source, offset in operands:
                if offset + nbytes > inputs[source]:
                    raise InvalidScheduleError(
                        f"{operation}: rank {rank} must receive bytes {offset} to {offset + nbytes} of rank {source}'s "
                        f"input, which has {inputs[source]} bytes"
                    )
            if start + nbytes > outputs[rank]:
                raise InvalidScheduleError(
                    f"{operation}: the output of rank {rank} needs {start + nbytes} bytes, but has {outputs[rank]}"
                )
    return pieces


def _buffer_sizes(schedule: Schedule) -> tuple[list[int], list[int]]:
    """Return the sizes of the inputs and of the outputs in bytes, by rank."""
    inputs = [sizes.get("input", 0) for sizes in schedule.buffers]
    return inputs, [sizes.get("output", 0) for sizes in schedule.buffers]


Sizes = Sequence[int]
"""Sizes in bytes, by rank. The functions below take the sizes of the inputs and of the outputs."""


def _broadcast(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    if schedule.root in schedule.sides(rank)[1]:
        yield 0, inputs[schedule.root], [(schedule.root, 0)]


def _allgather(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    start = 0
    for source in schedule.sides(rank)[1]:
        yield start, inputs[source], [(source, 0)]
        start += inputs[source]


def _gather(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    if rank == schedule.root:
        yield from _allgather(schedule, rank, inputs, outputs)


def _scatter(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    own, other = schedule.sides(rank)
    if schedule.root in other:
        yield 0, outputs[rank], [(schedule.root, sum(outputs[own.start : rank]))]


def _alltoall(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    own, other = schedule.sides(rank)
    column, start = rank - own.start, 0
    rows = schedule.counts
    if rows is None:
        rows = [[inputs[other.start] // len(own)] * len(own)] * schedule.ranks
    for source in other:
        row = rows[source] if source < len(rows) else ()
        if not isinstance(row, Sequence) or len(row) != len(own) or sum(row) != inputs[source]:
            raise InvalidScheduleError(
                "alltoall: blocks of different sizes need `counts`, for each rank the bytes to each rank"
            )
        yield start, row[column], [(source, sum(row[:column]))]
        start += row[column]


def _allreduce(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    sources = schedule.sides(rank)[1]
    yield 0, inputs[sources[0]], [(source, 0) for source in sources]


def _reduce(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    if rank == schedule.root:
        yield from _allreduce(schedule, rank, inputs, outputs)


def _reduce_scatter(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    own, other = schedule.sides(rank)
    start = sum(outputs[own.start : rank])
    yield 0, outputs[rank], [(source, start) for source in other]


def _scan(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    yield 0, inputs[0], [(source, 0) for source in range(rank + 1)]


def _exscan(schedule: Schedule, rank: int, inputs: Sizes, outputs: Sizes) -> Iterator[Piece]:
    if rank:
        yield 0, inputs[0], [(source, 0) for source in range(rank)]


DEMANDS: Final[dict[str, Callable[[Schedule, int, Sizes, Sizes], Iterator[Piece]]]] = {
    "broadcast": _broadcast,
    "allgather": _allgather,
    "gather": _gather,
    "scatter": _scatter,
    "alltoall": _alltoall,
    "allreduce": _allreduce,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "scan": _scan,
    "exscan": _exscan,
}
