"""Views: which bytes of a file a rank sees, and in which order.

A view is a displacement, after which filetypes follow one another; the bytes of the file that are theirs are a rank's data.
Offsets in calls count elementary types (etypes) of data. In the representation "external32" what is in the file has the
portable sizes and order, and a filetype lies there as if its elements had these sizes: what was said in elements is in
elements of the file, and what was said in bytes stays (MPI 4.1, 14.5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_TYPE, ERR_UNSUPPORTED_DATAREP
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.packing import external_size
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.datatypes.typemap import written_out

Runs = Iterable[tuple[int, int]]
"""Runs of bytes in a file: where each begins, and its length."""

NATIVE = ("native", "internal")
"""Representations in which bytes are as in memory."""


class View:
    """What a rank sees of a file."""

    def __init__(self, displacement: int, etype: Datatype, filetype: Datatype, datarep: str) -> None:
        self.displacement, self.etype, self.filetype, self.datarep = displacement, etype, filetype, datarep
        self.external = datarep == "external32"
        if datarep not in (*NATIVE, "external32"):
            words = f"{datarep!r} is not a representation; there are native, internal and external32."
            raise complaint(ERR_UNSUPPORTED_DATAREP, words)
        if displacement < 0:
            raise complaint(ERR_ARG, f"displacement {displacement} is negative.")
        for name, datatype in (("etype", etype), ("filetype", filetype)):
            datatype._usable()
            if not datatype._size:
                raise complaint(ERR_TYPE, f"the {name} has no bytes.")
        if filetype._size % etype._size:
            words = f"the filetype has {filetype._size} bytes, which is no multiple of the etype's {etype._size}."
            raise complaint(ERR_TYPE, words)
        self.unit = external_size(etype._definition) if self.external else etype._size  # of an etype, in the file
        lying = in_file(filetype) if self.external else filetype
        if lying._size % self.unit:
            words = f"the filetype has {lying._size} bytes in the file, which is no multiple of the etype's {self.unit}."
            raise complaint(ERR_TYPE, words)
        self._tile = lying._extent
        self.starts, self.lengths = written_out(lying._definition.layout.pieces)
        ends = self.starts + self.lengths
        if self.starts[0] < 0 or (self.starts[1:] < ends[:-1]).any() or (self._tile < ends[-1] - self.starts[0]):
            words = "a filetype's bytes must be at increasing places, and must not overlap."
            raise complaint(ERR_TYPE, words)
        self._before = np.concatenate(([0], np.cumsum(self.lengths)))  # bytes of data before each run, and in all
        self._data = int(self._before[-1])
        self.dense = self._data == self._tile and len(self.starts) == 1 and not self.starts[0]

    def byte(self, offset: int) -> int:
        """Where in the file an etype begins."""
        tile, rest = divmod(offset * self.unit, self._data)
        run = int(np.searchsorted(self._before, rest, "right")) - 1
        return self.displacement + tile * self._tile + int(self.starts[run]) + rest - int(self._before[run])

    def end(self, size: int) -> int:
        """How many etypes are there in a file of that size: those that begin before its end."""
        size -= self.displacement
        if size <= 0:
            return 0
        tile, rest = divmod(size, self._tile)
        there = int(np.clip(rest - self.starts, 0, self.lengths).sum())
        return -(-(tile * self._data + there) // self.unit)

    def runs(self, offset: int, nbytes: int) -> Iterator[tuple[int, int]]:
        """The runs of bytes from an etype on, so many bytes in all."""
        if not nbytes:
            return
        if self.dense:
            yield self.displacement + offset * self.unit, nbytes
            return
        tile, rest = divmod(offset * self.unit, self._data)
        run = int(np.searchsorted(self._before, rest, "right")) - 1
        starts, lengths = self.starts.tolist(), self.lengths.tolist()
        skip = rest - int(self._before[run])
        begin = length = 0  # neighbours are joined
        while nbytes:
            place = self.displacement + tile * self._tile + starts[run] + skip
            here = min(lengths[run] - skip, nbytes)
            if place == begin + length and length:
                length += here
            else:
                if length:
                    yield begin, length
                begin, length = place, here
            nbytes, skip, run = nbytes - here, 0, run + 1
            if run == len(starts):
                tile, run = tile + 1, 0
        yield begin, length


def in_file(datatype: Datatype) -> Datatype:
    """A type as it lies in a file in external32: itself, unless something in it has another size there.

    >>> in_file(Datatype.fromcode("l").Create_vector(2, 1, 3)).Get_extent()
    (0, 16)
    """
    if external_size(datatype._definition) == datatype._size:
        return datatype
    old, combiner, arguments = datatype.decode()
    if combiner == "NAMED":
        return BYTE.Create_contiguous(external_size(datatype._definition))
    if combiner == "STRUCT":
        arguments["datatypes"] = [in_file(each) for each in arguments["datatypes"]]
        return Datatype.Create_struct(**arguments)
    if combiner == "DUP":
        return in_file(old)
    made: Datatype = getattr(in_file(old), f"Create_{combiner.lower()}")(**arguments)
    return made


def cut_off(runs: Runs, size: int) -> list[tuple[int, int]]:
    """The runs up to the end of a file of that size.

    >>> cut_off([(0, 4), (6, 4), (12, 4)], 8)
    [(0, 4), (6, 2)]
    """
    return [(start, min(length, size - start)) for start, length in runs if start < size]


PLAIN = View(0, BYTE, BYTE, "native")
"""What a rank sees of a file that has just been opened."""
