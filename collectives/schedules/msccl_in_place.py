"""Where the input and the output of an MSCCL file in place are: one of them is a part of the other.

NCCL's calls in place determine the position. A rank's input of an allgather is its block of the output; its output of a
reduce_scatter is its block of the input; other operations have their input and output at the same place. msccl-tools names
only the larger buffer in the steps of such a file and declares the other one with 0 chunks, so that the size of a block
follows from the larger buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from collectives.schedules.contracts import NAMES
from collectives.schedules.errors import InvalidScheduleError

PARTS: Final = {"allgather": "input", "gather": "input", "reduce_scatter": "output", "scatter": "output"}
"""The buffer that is a rank's block of the other buffer."""

ROOTED: Final = ("gather", "scatter")
"""Operations of `PARTS` that are in place at the root only; other ranks have one buffer."""

EQUAL: Final = ("allreduce", "alltoall", "broadcast", "reduce", "scan", "exscan")
"""Operations with the same size on all ranks. A file may declare less on a rank that does not access the last chunks."""

Sizes = dict[str, int]
"""For each buffer of a rank a number of chunks, by name."""


def place(
    operation: str, declared: Sequence[Sizes], used: Sequence[Mapping[str, int]], *, root: int = 0, uneven: bool = False
) -> tuple[list[Sizes], list[dict[str, tuple[str, int]]]]:
    """Return the sizes of the buffers and their aliases, by rank and in chunks.

    Parameters
    ----------
    operation : a name of an operation in `contracts`; an unknown operation has both buffers at the same place
    declared : for each rank the declared sizes of its buffers
    used : for each rank and buffer the end of the ranges that its steps access
    root : the root of a broadcast, gather or scatter
    uneven : whether blocks differ in size
    """
    name = NAMES.get(operation, operation)
    if name in PARTS:
        return _place_blocks(name, declared, used, root)
    sizes = [{**own, "output": max(own["input"], own["output"])} for own in declared]
    largest = max(own["output"] for own in sizes)
    for rank, own in enumerate(sizes):
        if name in EQUAL and not uneven:
            own["output"] = largest
        if name != "broadcast" or rank == root:
            own["input"] = own["input"] if own["input"] and (name not in EQUAL or uneven) else own["output"]
    return sizes, [{"input": ("output", 0)} for _ in sizes]


def _place_blocks(
    name: str, declared: Sequence[Sizes], used: Sequence[Mapping[str, int]], root: int
) -> tuple[list[Sizes], list[dict[str, tuple[str, int]]]]:
    """Return sizes and aliases of an operation in which one buffer is a rank's block of the other one."""
    part = PARTS[name]
    whole = "output" if part == "input" else "input"
    total = max(own[whole] for own in declared)
    blocks = [own[part] for own in declared]
    if sum(blocks) != total:
        blocks = [_block(declared, used, part, whole)] * len(declared)
    offsets = list(accumulate(blocks, initial=0))
    total = max(total, offsets[-1])
    sizes: list[Sizes] = []
    aliases: list[dict[str, tuple[str, int]]] = []
    for rank, own in enumerate(declared):
        if name in ROOTED and rank != root:
            sizes.append({**own, part: max(own[part], blocks[rank])})
            aliases.append({})
        else:
            sizes.append({**own, part: blocks[rank], whole: total})
            aliases.append({part: (whole, offsets[rank])})
    return sizes, aliases


def _block(declared: Sequence[Sizes], used: Sequence[Mapping[str, int]], part: str, whole: str) -> int:
    """Return the size of a rank's block, if all blocks have the same size.

    It is a rank's share of the larger buffer. A file in which that is not a whole number, or is less than a step accesses,
    must declare the size.
    """
    ranks, total = len(declared), max(own[whole] for own in declared)
    accessed = max(ends.get(part, 0) for ends in used)
    if total % ranks == 0 and total // ranks >= accessed:
        return total // ranks
    block = max(own[part] for own in declared)
    if block * ranks < total or block < accessed:
        raise InvalidScheduleError(
            f"inplace=1: the {whole} has {total} chunks, which is not a multiple of ngpus={ranks}; declare the chunks of a "
            f"rank's block as {part[0]}_chunks"
        )
    return block
