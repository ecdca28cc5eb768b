"""Views: the bytes of a file that a rank sees, and their order.

A view is a displacement followed by a repeated filetype; the bytes that the filetypes select are the rank's data. Offsets in
calls are in elementary types (etypes) of data. In the representation "external32", elements in the file have the portable
sizes and byte order, and a filetype is laid out with these sizes: displacements in elements are scaled, displacements in
bytes are not (MPI 4.1, 14.5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fakempi.errors.classes import ERR_ARG, ERR_TYPE, ERR_UNSUPPORTED_DATAREP
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.packing import external_size
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.datatypes.typemap import all_runs

Runs = Iterable[tuple[int, int]]
"""Runs of bytes in a file: start and length of each."""

NATIVE = ("native", "internal")
"""Data representations in which bytes are the same as in memory."""


class View:
    """The view of a rank."""

    def __init__(self, displacement: int, etype: Datatype, filetype: Datatype, datarep: str) -> None:
        etype, filetype = etype._pin(), filetype._pin()
        self.displacement, self.etype, self.filetype, self.datarep = displacement, etype, filetype, datarep
        self.external = datarep == "external32"
        if datarep not in (*NATIVE, "external32"):
            sentence = f"{datarep!r} is not a data representation: use native, internal or external32."
            raise mpi_error(ERR_UNSUPPORTED_DATAREP, sentence)
        if displacement < 0:
            raise mpi_error(ERR_ARG, f"displacement {displacement} is negative.")
        for datatype in (etype, filetype):
            datatype._usable()
        if not etype._size:
            raise mpi_error(ERR_TYPE, "the etype has no bytes.")
        if filetype._size % etype._size:
            sentence = f"the filetype has {filetype._size} bytes, which is not a multiple of the etype's {etype._size}."
            raise mpi_error(ERR_TYPE, sentence)
        self.unit = external_size(etype._definition) if self.external else etype._size  # of an etype, in the file
        file_layout = in_file(filetype) if self.external else filetype
        if file_layout._size % self.unit:
            size = f"{file_layout._size} bytes in the file"
            sentence = f"the filetype has {size}, which is not a multiple of the etype's {self.unit}."
            raise mpi_error(ERR_TYPE, sentence)
        self._tile = file_layout._extent
        empty = np.zeros(0, np.int64)
        # a filetype without bytes is the view of a rank without data, as in MPICH
        self.starts, self.lengths = all_runs(file_layout._definition.layout.pieces) if filetype._size else (empty, empty)
        ends = self.starts + self.lengths
        increasing = not (self.starts < 0).any() and not (self.starts[1:] < ends[:-1]).any()
        if not increasing or (len(ends) and self._tile < ends[-1] - self.starts[0]):
            sentence = "the displacements of a filetype must be nonnegative and increasing, and its blocks must not overlap."
            raise mpi_error(ERR_TYPE, sentence)
        self._before = np.concatenate(([0], np.cumsum(self.lengths)))  # bytes of data before each run, and in total
        self._data = int(self._before[-1])
        self.dense = self._data == self._tile and len(self.starts) == 1 and not self.starts[0]

    def byte(self, offset: int) -> int:
        """Return the byte of the file where an etype begins."""
        if not self._data:
            return self.displacement
        tile, rest = divmod(offset * self.unit, self._data)
        run = int(np.searchsorted(self._before, rest, "right")) - 1
        return self.displacement + tile * self._tile + int(self.starts[run]) + rest - int(self._before[run])

    def end(self, size: int) -> int:
        """Return the number of etypes that begin within a file of `size` bytes."""
        if not self._data:
            return 0
        first = int(self.starts[0])  # a filetype's last byte may be beyond its extent, if its first is not at 0
        size -= self.displacement + first
        if size <= 0:
            return 0
        tile, rest = divmod(size, self._tile)
        in_last_tile = int(np.clip(rest - (self.starts - first), 0, self.lengths).sum())
        return -(-(tile * self._data + in_last_tile) // self.unit)

    def runs(self, offset: int, nbytes: int) -> Iterator[tuple[int, int]]:
        """Yield the runs of `nbytes` bytes of data, beginning at an etype."""
        if not nbytes:
            return
        if not self._data:
            raise mpi_error(ERR_TYPE, f"{nbytes} bytes of data, but the filetype of this rank's view has no bytes.")
        if self.dense:
            yield self.displacement + offset * self.unit, nbytes
            return
        tile, rest = divmod(offset * self.unit, self._data)
        run = int(np.searchsorted(self._before, rest, "right")) - 1
        starts, lengths = self.starts.tolist(), self.lengths.tolist()
        skip = rest - int(self._before[run])
        begin = length = 0  # neighbors are joined
        while nbytes:
            start = self.displacement + tile * self._tile + starts[run] + skip
            piece = min(lengths[run] - skip, nbytes)
            if start == begin + length and length:
                length += piece
            else:
                if length:
                    yield begin, length
                begin, length = start, piece
            nbytes, skip, run = nbytes - piece, 0, run + 1
            if run == len(starts):
                tile, run = tile + 1, 0
        yield begin, length


def in_file(datatype: Datatype) -> Datatype:
    """Return the layout of a type in a file in external32: the type itself, unless sizes of elements differ.

    >>> in_file(Datatype.fromcode("l").Create_vector(2, 1, 3)).Get_extent()
    (0, 16)
    """
    if external_size(datatype._definition) == datatype._size:
        return datatype
    old, combiner, arguments = datatype.decode()
    if combiner == "NAMED":
        return BYTE.Create_contiguous(external_size(datatype._definition))
    if combiner == "STRUCT":
        arguments["datatypes"] = [in_file(part) for part in arguments["datatypes"]]
        return Datatype.Create_struct(**arguments)
    if combiner == "DUP":
        return in_file(old)
    new: Datatype = getattr(in_file(old), f"Create_{combiner.lower()}")(**arguments)
    return new


def clipped_runs(runs: Runs, size: int) -> list[tuple[int, int]]:
    """Return the runs up to the end of a file of `size` bytes.

    >>> clipped_runs([(0, 4), (6, 4), (12, 4)], 8)
    [(0, 4), (6, 2)]
    """
    return [(start, min(length, size - start)) for start, length in runs if start < size]


PLAIN = View(0, BYTE, BYTE, "native")
"""The view of a file that has just been opened."""
