"""Op: reduction operations, predefined and user-defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_OP
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.buffers.typing import Buffer, BufSpec
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.interfaces.arrays import Dtype
from fakempi.mpi.operations.bound import BoundOp
from fakempi.mpi.operations.functions import ARITHMETIC, Arithmetic, Kernel, clear_results, family
from fakempi.mpi.operations.operands import call, can_combine_directly, charge, check_distinct, describe_both, elements

if TYPE_CHECKING:
    from typing_extensions import Self


class OpDefinition:
    """The operation behind a handle: a predefined one has `arithmetic`, a user-defined one a `function`."""

    __slots__ = ("__weakref__", "arithmetic", "by_dtype", "commutes", "function", "label", "reduces")

    def __init__(self, label: str, function: Any, commutes: bool, arithmetic: Arithmetic | None = None) -> None:
        self.label, self.function, self.commutes, self.arithmetic = label, function, commutes, arithmetic
        self.reduces = arithmetic is None or bool(arithmetic.by_family)
        self.by_dtype: dict[Dtype, Kernel] = {} if arithmetic is None else arithmetic.by_dtype


class Op(Handled["Op"]):
    """A reduction operation.

    Inside fakempi: `_on(datatype)` returns the operation for arrays, as algorithms use it; `_check(datatype)` raises an
    error if the operation does not accept the datatype; `_reduce(source, target)` combines two spans, at no modeled cost. A
    copy of a handle stays valid after `Free`.
    """

    __module__ = "fakempi.MPI"  # the module in which programs find the class, and from which pickles import it
    __slots__ = ("__weakref__", "_operation")

    _operation: OpDefinition | None  # None: null

    def __new__(cls, op: Op | None = None) -> Self:
        if op is not None and not isinstance(op, Op):
            raise mpi_error(ERR_OP, f"{op!r} is not an operation.", MPITypeError)
        return cls._wrap(None if op is None else op._operation)

    @classmethod
    def _wrap(cls, operation: OpDefinition | None) -> Self:
        self = super().__new__(cls)
        self._operation = operation
        return self

    def __call__(self, x: Any, y: Any) -> Any:
        """Combine two Python objects; a user-defined function is called with None as its datatype."""
        operation = self._operation
        if operation is None:
            raise mpi_error(ERR_OP, "the operation is OP_NULL: it cannot be called.", MPIValueError)
        if operation.arithmetic is not None:
            return operation.arithmetic.objects(x, y)
        return operation.function(x, y, None)

    def __reduce__(self) -> str | tuple[Any, ...]:
        operation = self._operation
        if not self.is_predefined and operation is not None:
            return type(self).Create, (operation.function, operation.commutes)
        label = "OP_NULL" if operation is None else operation.label
        predefined = BY_NAME[label]
        return label if predefined is self else (type(self), (predefined,))

    def __repr__(self) -> str:
        return f"<Op: {self._display_name()}>"

    def _display_name(self) -> str:
        operation = self._operation
        if operation is None or operation.label:
            return "OP_NULL" if operation is None else operation.label
        function = operation.function
        return f"Op.Create({getattr(function, '__qualname__', type(function).__qualname__)})"

    def _mpi_object(self) -> object | None:
        return self._operation

    @property
    def _shared(self) -> bool:
        return self.is_predefined

    # -- creation and properties -------------------------------------------------------------------------------------

    @classmethod
    def Create(cls, function: Callable[[Buffer, Buffer, Datatype], None], commute: bool = False) -> Self:
        """Create a user-defined operation: `function(inbuf, inoutbuf, datatype)` combines two buffers."""
        if not callable(function):
            raise mpi_error(ERR_OP, f"function is {function!r}, which cannot be called.", MPITypeError)
        self = cls._wrap(OpDefinition("", function, bool(commute)))
        track("op-leak", self._operation)
        return self

    def Free(self) -> None:
        """Free the operation: this handle becomes null."""
        operation = self._alive()
        if operation.arithmetic is not None:
            raise mpi_error(ERR_OP, f"{operation.label} is predefined and cannot be freed.")
        untrack("op-leak", operation)
        self._operation = None

    def free(self) -> None:
        """Free the operation if it is user-defined; a copy of a predefined one becomes null."""
        if not self.is_predefined or BY_NAME[self._display_name()] is not self:
            untrack("op-leak", self._operation)
            self._operation = None

    def Is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return self._alive().commutes

    @property
    def is_commutative(self) -> bool:
        """Whether the operands may be exchanged."""
        return self.Is_commutative()

    @property
    def is_predefined(self) -> bool:
        """Whether it is one of MPI's predefined operations, or null."""
        return self._operation is None or self._operation.arithmetic is not None

    def _alive(self) -> OpDefinition:
        if self._operation is None:
            raise self._unusable_error()
        return self._operation

    # -- reducing ----------------------------------------------------------------------------------------------------

    def Reduce_local(self, inbuf: BufSpec, inoutbuf: BufSpec) -> None:
        """Combine two buffers element by element: `inoutbuf` becomes `inbuf` op `inoutbuf`."""
        operation = self._operation
        if operation is None or not operation.reduces:
            raise self._unusable_error()
        if type(inbuf) is ndarray and type(inoutbuf) is ndarray:
            kernel = operation.by_dtype.get(inbuf.dtype)
            if kernel is not None and can_combine_directly(inbuf, inoutbuf):
                kernel(inbuf, inoutbuf, out=inoutbuf)
                charge(inbuf.nbytes)
                return
        elif type(inbuf) is Phantom and type(inoutbuf) is Phantom and inbuf.nbytes == inoutbuf.nbytes:
            charge(inbuf.nbytes)
            return
        source, target, datatypes = describe_both(inbuf, inoutbuf)
        for datatype in datatypes:
            self._check(datatype)
        check_distinct(source, target)
        self._reduce(source, target)
        charge(target.nbytes)

    def _on(self, datatype: Datatype) -> Op | BoundOp:
        """Return the operation for arrays of packed elements of a datatype; raise an error if it does not accept it."""
        self._check(datatype)
        if self.is_predefined and not datatype._definition.parts:
            return self  # the dtype of an array of numbers is sufficient
        return BoundOp(Op(self), datatype)

    def _check(self, datatype: Datatype) -> None:
        """Raise an error unless the operation accepts elements of this type."""
        operation = self._operation
        if operation is None or not operation.reduces:
            raise self._unusable_error()
        arithmetic, definition = operation.arithmetic, datatype._definition
        if arithmetic is not None and family(definition) not in arithmetic.by_family:
            problem = f"{operation.label} takes {arithmetic.takes}, not {definition.describe()}"
            hint = "." if definition.permanent else "; use Op.Create for derived datatypes."
            raise mpi_error(ERR_OP, problem + hint)

    def _reduce(self, source: Span, target: Span) -> None:
        """Combine two spans with the same number of elements of one accepted datatype; phantoms are skipped."""
        operation = self._alive()
        if not target.count or type(source.memory) is Phantom or type(target.memory) is Phantom:
            return
        if operation.arithmetic is None:
            call(operation.function, source, target)
        else:
            result = elements(target)
            operation.arithmetic.by_family[family(target.datatype._definition)](elements(source), result, out=result)
            clear_results(result)

    def _unusable_error(self) -> MPIError:
        if self._operation is None:
            return mpi_error(ERR_OP, "the operation is OP_NULL: it was never created, or was freed.")
        return mpi_error(ERR_OP, f"{self._operation.label} is for one-sided communication only, not for reductions.")


def _predefined(label: str) -> Op:
    # All operations commute, except REPLACE and NO_OP of one-sided communication.
    return Op._wrap(OpDefinition(label, None, label not in ("REPLACE", "NO_OP"), ARITHMETIC[label]))


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

BY_NAME: dict[str, Op] = {name: value for name, value in globals().items() if isinstance(value, Op)}
