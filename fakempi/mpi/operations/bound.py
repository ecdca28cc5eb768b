"""An operation bound to a datatype: what the algorithms of collectives call, which know arrays and not datatypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.error_classes import ERR_COUNT
from fakempi.errors import MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations.operands import charge


class BoundOp:
    """Combines contiguous arrays of packed elements, whatever numpy holds the elements for; and phantoms of that size."""

    __slots__ = ("_datatype", "_op")

    def __init__(self, op: Any, datatype: Datatype) -> None:
        self._op, self._datatype = op, datatype

    def Is_commutative(self) -> bool:
        """May the operands change places?"""
        return bool(self._op.Is_commutative())

    @property
    def is_commutative(self) -> bool:
        """May the operands change places?"""
        return self.Is_commutative()

    @property
    def is_predefined(self) -> bool:
        """Does it exist without anybody making it?"""
        return bool(self._op.is_predefined)

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """As `Op.Reduce_local`, for two arrays of as many elements."""
        nbytes = inoutbuf.nbytes
        if inbuf.nbytes != nbytes:
            words = f"inbuf has {inbuf.nbytes} bytes, inoutbuf {nbytes}: they must be equally long."
            raise complaint(ERR_COUNT, words, MPIValueError)
        if nbytes and type(inbuf) is not Phantom and type(inoutbuf) is not Phantom:
            target = self._spread(inoutbuf)
            self._op._reduce(self._spread(inbuf), target)
            if not self._datatype._dense:
                flat(inoutbuf)[...] = target.packed()
        charge(nbytes)

    def _spread(self, array: Any) -> Span:
        """Packed elements as the datatype has them in memory; in their own places if there are no holes in it."""
        datatype, data = self._datatype, flat(array)
        count = len(data) // datatype._size
        if datatype._dense:
            return Span(data, 0, count, datatype)
        low, high = datatype._span(count)
        origin = max(0, -low)
        memory = np.zeros(origin + max(high, count * datatype._extent), np.uint8)
        datatype._unpack(data, memory, origin, count)
        return Span(memory, origin, count, datatype)
