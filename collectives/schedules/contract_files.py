"""Contracts in JSON files: the required output of each rank, for operations that MPI does not have.

    {"format": "fakempi contract", "version": 1,
     "outputs": [[{"offset": 0, "bytes": 8, "operands": [[1, 0]]}],
                 [{"offset": 0, "bytes": 8, "operands": [[0, 0], [1, 0]]}]]}

`outputs` has a list for each rank. An entry states that `bytes` bytes of the rank's output, from `offset` on, hold the
operands. An operand is [rank, offset], a position in the input of a rank. The reduction combines several operands, in this
order if the op is not commutative. Bytes of an output that no entry covers may hold anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from collectives.schedules.errors import InvalidScheduleError
from collectives.tools.text_files import read_text

Piece = tuple[int, int, Sequence[tuple[int, int]]]
"""Offset and number of bytes in an output, and (rank, offset) of the operands of its first byte."""

FORMAT, VERSION = "fakempi contract", 1


def read_contract(path: str, ranks: int) -> list[list[Piece]]:
    """Return the required pieces of the outputs, by rank. Raises InvalidScheduleError if the file is invalid."""
    try:
        text = read_text(path)
    except ValueError as error:
        raise InvalidScheduleError(f"{path}: {error}") from None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidScheduleError(f"{path}: not valid JSON: {error}"[:300]) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        raise InvalidScheduleError(f'{path}: not a contract: "format" must be "{FORMAT}" and "version" {VERSION}')
    outputs = data.get("outputs")
    if not isinstance(outputs, list) or len(outputs) != ranks or not all(isinstance(output, list) for output in outputs):
        raise InvalidScheduleError(f'{path}: "outputs" must have one list for each of the {ranks} ranks')
    return [
        [_piece(entry, f"{path}: outputs of rank {rank}, entry {index}", ranks) for index, entry in enumerate(entries)]
        for rank, entries in enumerate(outputs)
    ]


def _piece(entry: Any, what: str, ranks: int) -> Piece:
    """Return a checked entry; `what` describes its location for error messages."""
    if not isinstance(entry, dict) or {*entry} != {"offset", "bytes", "operands"}:
        raise InvalidScheduleError(f"{what} must have the keys offset, bytes and operands")
    operands = entry["operands"]
    if not isinstance(operands, list) or not operands:
        raise InvalidScheduleError(f"{what}: operands must be a list of [rank, offset] that is not empty")
    pairs = []
    for operand in operands:
        if not isinstance(operand, list) or len(operand) != 2 or not all(_is_size(number) for number in operand):
            raise InvalidScheduleError(f"{what}: an operand must be [rank, offset], not {operand!r}"[:200])
        if operand[0] >= ranks:
            raise InvalidScheduleError(f"{what}: rank {operand[0]} does not exist, there are {ranks}")
        pairs.append((operand[0], operand[1]))
    if not _is_size(entry["offset"]) or not _is_size(entry["bytes"]):
        raise InvalidScheduleError(f"{what}: offset and bytes must be whole numbers from 0 to 2^53")
    return entry["offset"], entry["bytes"], pairs


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53
