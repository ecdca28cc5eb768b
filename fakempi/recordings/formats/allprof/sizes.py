"""The sizes of collective calls in lines of liballprof."""

from __future__ import annotations

from fakempi.recordings.formats.allprof.lines import itemsize as element
from fakempi.recordings.formats.allprof.lines import nbytes


def sizes(
    operation: str, fields: list[str], rank: int, size: int, nonblocking: bool
) -> tuple[int, list[int], int, int, int] | None:
    """Return bytes, counts in bytes, bytes of an element, root and operation of a collective call; None without counts."""
    if operation == "barrier":
        return 0, [], 1, 0, 1
    if operation == "bcast":
        return nbytes(fields[3], fields[4]), [], element(fields[4]), int(fields[5]), 1
    if operation in ("allreduce", "scan", "exscan", "reduce_scatter_block"):
        return nbytes(fields[4], fields[5]), [], element(fields[5]), 0, int(fields[6])
    if operation == "reduce":
        return nbytes(fields[4], fields[5]), [], element(fields[5]), int(fields[7]), int(fields[6])
    if operation in ("allgather", "alltoall"):
        return nbytes(fields[6], fields[7]), [], element(fields[7]), 0, 1  # the other buffer may be IN_PLACE
    if operation in ("gather", "scatter"):
        root = int(fields[8])
        first = 6 if (rank == root) == (operation == "gather") else 3
        return nbytes(fields[first], fields[first + 1]), [], element(fields[first + 1]), root, 1
    return _vector_sizes(operation, fields[: len(fields) - nonblocking], rank, size)


ARRAYS = {"gatherv": (6, 7), "scatterv": (3, 4), "allgatherv": (6, 7), "alltoallv": (3, 4, 7, 8), "reduce_scatter": (4,)}
"""Fields that are addresses of arrays of counts or displacements, if the counts do not follow them."""


def _vector_sizes(operation: str, fields: list[str], rank: int, size: int) -> tuple[int, list[int], int, int, int] | None:
    """The same for vector forms, whose counts follow their addresses in traces of newer versions."""
    plain = {"gatherv": 12, "scatterv": 12, "allgatherv": 11, "alltoallv": 12, "reduce_scatter": 9}[operation]
    arrays: list[list[str]] = []
    if len(fields) == plain:
        return None
    words = list(fields)
    for at in ARRAYS[operation]:
        arrays.append(words.pop(at + 1).split(","))
    if len(words) != plain or any(len(each) != size for each in arrays):
        raise ValueError
    types = {"gatherv": 8, "scatterv": 5, "allgatherv": 8, "alltoallv": 9, "reduce_scatter": 5}
    itemsize = element(words[types[operation]])
    root = int(words[9]) if operation in ("gatherv", "scatterv") else 0
    if root != rank and operation == "gatherv":
        return nbytes(words[3], words[4]), [], element(words[4]), root, 1
    if root != rank and operation == "scatterv":
        return nbytes(words[7], words[8]), [], element(words[8]), root, 1
    counts = [int(count) * itemsize for count in arrays[0]]
    if operation == "alltoallv":
        sent = element(words[5])
        counts = [int(count) * sent for count in arrays[0]] + [int(count) * itemsize for count in arrays[2]]
        return sum(counts[:size]), counts, itemsize, 0, 1
    return counts[rank], counts, itemsize, root, int(words[6]) if operation == "reduce_scatter" else 1
