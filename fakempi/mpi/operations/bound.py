"""An operation bound to a datatype, for the algorithms of collectives, which handle arrays without datatypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_COUNT
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.operations.operands import charge


class BoundOp:
    """Combines contiguous arrays of packed elements, whatever their numpy type; of phantoms it only checks the sizes."""

    __slots__ = ("_datatype", "_op")

    def __init__(self, op: Any, datatype: Datatype) -> None:
        self._op, self._datatype = op, datatype

    def Is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return bool(self._op.Is_commutative())

    @property
    def is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return self.Is_commutative()

    @property
    def is_predefined(self) -> bool:
        """Whether it is one of MPI's predefined operations."""
        return bool(self._op.is_predefined)

    def Reduce_local(self, inbuf: Array | Phantom, inoutbuf: Array | Phantom) -> None:
        """Combine two arrays of equal size, as `Op.Reduce_local`."""
        nbytes = inoutbuf.nbytes
        if inbuf.nbytes != nbytes:
            sentence = f"inbuf has {inbuf.nbytes} bytes, inoutbuf {nbytes}: their sizes must be equal."
            raise mpi_error(ERR_COUNT, sentence, MPIValueError)
        if nbytes and type(inbuf) is not Phantom and type(inoutbuf) is not Phantom:
            target = self._in_layout(inoutbuf)
            self._op._reduce(self._in_layout(inbuf), target)
            if not self._datatype._dense:
                flat(inoutbuf)[...] = target.packed()
        charge(nbytes)

    def _in_layout(self, array: Array) -> Span:
        """Return packed elements in the datatype's layout; without a copy if the layout has no holes."""
        datatype, data = self._datatype, flat(array)
        count = len(data) // datatype._size
        if datatype._dense:
            return Span(data, 0, count, datatype)
        low, high = datatype._span(count)
        origin = max(0, -low)
        memory = np.zeros(origin + max(high, count * datatype._extent), np.uint8)
        datatype._unpack(data, memory, origin, count)
        return Span(memory, origin, count, datatype)
