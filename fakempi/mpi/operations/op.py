"""Op: the operations of reductions, MPI's own and those that programs create."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from fakempi.error_classes import ERR_OP
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations.bound import BoundOp
from fakempi.mpi.operations.functions import ARITHMETIC, Arithmetic, Kernel, family
from fakempi.mpi.operations.operands import alike, call, charge, check_apart, describe_both, elements

if TYPE_CHECKING:
    from typing_extensions import Self


class Operation:
    """What handles stand for: a predefined operation has `arithmetic`, one of a program's a `function`."""

    __slots__ = ("__weakref__", "arithmetic", "by_dtype", "commutes", "function", "label", "reduces")

    def __init__(self, label: str, function: Any, commutes: bool, arithmetic: Arithmetic | None = None) -> None:
        self.label, self.function, self.commutes, self.arithmetic = label, function, commutes, arithmetic
        self.reduces = arithmetic is None or bool(arithmetic.by_family)
        self.by_dtype: dict[np.dtype[Any], Kernel] = {} if arithmetic is None else arithmetic.by_dtype


class Op(Handled):
    """How two values become one.

    Inside fakempi: `_on(datatype)` is what algorithms combine arrays with; `_check(datatype)` complains if the operation
    does not fit; `_reduce(source, target)` combines two spans, at no modelled cost. A copy of a handle outlives `Free`.
    """

    __module__ = "fakempi.MPI"  # where programs find it, and pickles look for it
    __slots__ = ("__weakref__", "_operation")

    _operation: Operation | None  # None: null

    def __new__(cls, op: Op | None = None) -> Self:
        if op is not None and not isinstance(op, Op):
            raise complaint(ERR_OP, f"{op!r} is not an operation.", MPITypeError)
        return cls._wrap(None if op is None else op._operation)

    @classmethod
    def _wrap(cls, operation: Operation | None) -> Self:
        self = super().__new__(cls)
        self._operation = operation
        return self

    def __call__(self, x: Any, y: Any) -> Any:
        """Combine two Python objects; a function of the program's is called as for arrays, with no datatype."""
        operation = self._operation
        if operation is None:
            raise complaint(ERR_OP, "the operation is OP_NULL: it cannot be called.", MPIValueError)
        if operation.arithmetic is not None:
            return operation.arithmetic.objects(x, y)
        return operation.function(x, y, None)

    def __reduce__(self) -> str | tuple[Any, ...]:
        operation = self._operation
        if not self.is_predefined and operation is not None:
            return type(self).Create, (operation.function, operation.commutes)
        label = "OP_NULL" if operation is None else operation.label
        home = BY_NAME[label]
        return label if home is self else (type(self), (home,))

    def __repr__(self) -> str:
        return f"<Op: {self._name_for_people()}>"

    def _name_for_people(self) -> str:
        operation = self._operation
        if operation is None or operation.label:
            return "OP_NULL" if operation is None else operation.label
        function = operation.function
        return f"Op.Create({getattr(function, '__qualname__', type(function).__qualname__)})"

    def _stands_for(self) -> object | None:
        return self._operation

    @property
    def _shared(self) -> bool:
        return self.is_predefined

    # -- making and asking -------------------------------------------------------------------------------------------

    @classmethod
    def Create(cls, function: Callable[[Any, Any, Datatype], None], commute: bool = False) -> Self:
        """An operation of the program's own: `function(inbuf, inoutbuf, datatype)` combines two stretches of memory."""
        if not callable(function):
            raise complaint(ERR_OP, f"function is {function!r}, which cannot be called.", MPITypeError)
        self = cls._wrap(Operation("", function, bool(commute)))
        owes("op-leak", self._operation)
        return self

    def Free(self) -> None:
        """Give the operation up: this handle becomes null."""
        operation = self._alive()
        if operation.arithmetic is not None:
            raise complaint(ERR_OP, f"{operation.label} is predefined and cannot be freed.")
        done("op-leak", operation)
        self._operation = None

    def free(self) -> None:
        """Free the operation if there is anything to free; a copy of one of MPI's own becomes null."""
        if not self.is_predefined or BY_NAME[self._name_for_people()] is not self:
            done("op-leak", self._operation)
            self._operation = None

    def Is_commutative(self) -> bool:
        """May the operands change places?"""
        return self._alive().commutes

    @property
    def is_commutative(self) -> bool:
        """May the operands change places?"""
        return self.Is_commutative()

    @property
    def is_predefined(self) -> bool:
        """Does it exist without anybody making it?"""
        return self._operation is None or self._operation.arithmetic is not None

    def _alive(self) -> Operation:
        if self._operation is None:
            raise self._useless()
        return self._operation

    # -- reducing ----------------------------------------------------------------------------------------------------

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Combine two buffers element by element: `inoutbuf` becomes `inbuf` op `inoutbuf`."""
        operation = self._operation
        if operation is None or not operation.reduces:
            raise self._useless()
        if type(inbuf) is ndarray and type(inoutbuf) is ndarray:
            kernel = operation.by_dtype.get(inbuf.dtype)
            if kernel is not None and alike(inbuf, inoutbuf):
                kernel(inbuf, inoutbuf, out=inoutbuf)
                charge(inbuf.nbytes)
                return
        elif type(inbuf) is Phantom and type(inoutbuf) is Phantom and inbuf.nbytes == inoutbuf.nbytes:
            charge(inbuf.nbytes)
            return
        source, target, told = describe_both(inbuf, inoutbuf)
        for datatype in told:
            self._check(datatype)
        check_apart(source, target)
        self._reduce(source, target)
        charge(target.nbytes)

    def _on(self, datatype: Datatype) -> Op | BoundOp:
        """The operation for arrays of packed elements of a datatype that it takes."""
        self._check(datatype)
        if self.is_predefined and not datatype._definition.parts:
            return self  # numbers: the array says all there is to know
        return BoundOp(Op(self), datatype)

    def _check(self, datatype: Datatype) -> None:
        """Complain unless the operation combines elements of this type."""
        operation = self._operation
        if operation is None or not operation.reduces:
            raise self._useless()
        arithmetic, definition = operation.arithmetic, datatype._definition
        if arithmetic is not None and family(definition) not in arithmetic.by_family:
            words = f"{operation.label} takes {arithmetic.takes}, not {definition.describe()}"
            hint = "." if definition.permanent else "; for derived datatypes there is Op.Create."
            raise complaint(ERR_OP, words + hint)

    def _reduce(self, source: Span, target: Span) -> None:
        """Combine as many elements of one datatype, which the operation takes; phantoms need no combining."""
        operation = self._alive()
        if not target.count or type(source.memory) is Phantom or type(target.memory) is Phantom:
            return
        if operation.arithmetic is None:
            call(operation.function, source, target)
        else:
            result = elements(target)
            operation.arithmetic.by_family[family(target.datatype._definition)](elements(source), result, out=result)

    def _useless(self) -> MPIError:
        if self._operation is None:
            return complaint(ERR_OP, "the operation is OP_NULL: it was never made, or was freed.")
        return complaint(ERR_OP, f"{self._operation.label} is for one-sided communication, it reduces nothing.")


def _predefined(label: str) -> Op:
    # All but the operations of one-sided communication commute.
    return Op._wrap(Operation(label, None, label not in ("REPLACE", "NO_OP"), ARITHMETIC[label]))


OP_NULL = Op()
MAX = _predefined("MAX")
MIN = _predefined("MIN")
SUM = _predefined("SUM")
PROD = _predefined("PROD")
LAND = _predefined("LAND")
BAND = _predefined("BAND")
LOR = _predefined("LOR")
BOR = _predefined("BOR")
LXOR = _predefined("LXOR")
BXOR = _predefined("BXOR")
MAXLOC = _predefined("MAXLOC")
MINLOC = _predefined("MINLOC")
REPLACE = _predefined("REPLACE")
NO_OP = _predefined("NO_OP")

BY_NAME: dict[str, Op] = {name: thing for name, thing in globals().items() if isinstance(thing, Op)}
