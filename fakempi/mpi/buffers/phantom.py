"""Phantoms: buffers that have a size and no contents.

A phantom takes the place of a numpy array. It is sent, received, sliced and assigned like one, and every message is modeled
in full, but no data are copied: 8 MB messages among thousands of ranks take no memory.
"""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BUFFER
from fakempi.mpi.base.mpi_errors import integer, mpi_error


@final
class Phantom:
    """A one-dimensional array of `size` elements of `itemsize` bytes without contents. Immutable.

    It has the parts of numpy's interface that move data (slices with step 1, slice assignment, `copy`, `fill`,
    `reshape(-1)`), and `empty(size)` for scratch space of the same kind. Operations that would read an element raise an
    error.
    """

    __slots__ = ("itemsize", "nbytes", "size")

    itemsize: int
    nbytes: int
    size: int

    if TYPE_CHECKING:  # for type checkers a phantom is memory, which every buffer argument accepts

        def __buffer__(self, flags: int, /) -> memoryview: ...

    ndim = 1
    base = None  # not a view of other memory
    __array_ufunc__ = None  # numpy's operators reject phantoms

    def __init__(self, size: int, itemsize: int = 1) -> None:
        _set_size(self, size)
        _set_itemsize(self, itemsize)
        _set_nbytes(self, size * itemsize)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a phantom cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a phantom cannot be changed: {name}")

    @property
    def dtype(self) -> np.dtype[np.void]:
        """numpy's void type of `itemsize` bytes."""
        known = _dtypes.get(self.itemsize)
        if known is None:
            known = _dtypes[self.itemsize] = np.dtype((np.void, self.itemsize))
        return known

    @property
    def shape(self) -> tuple[int]:
        """The number of elements, as a tuple."""
        return (self.size,)

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if type(other) is not Phantom:
            return NotImplemented
        return self.size == other.size and self.itemsize == other.itemsize

    def __hash__(self) -> int:
        return hash((Phantom, self.size, self.itemsize))

    def __repr__(self) -> str:
        return f"phantom({self.nbytes})" if self.itemsize == 1 else f"phantom({self.nbytes}, itemsize={self.itemsize})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return phantom, (self.nbytes, self.itemsize)

    def __getitem__(self, key: object) -> Phantom:
        if isinstance(key, slice):
            return Phantom(self._length(key), self.itemsize)
        if key is Ellipsis:
            return self
        sentence = f"a phantom of {self.size} elements has no contents to read: [{key!r}] is not a slice."
        raise mpi_error(ERR_BUFFER, sentence, MPITypeError)

    def __setitem__(self, key: slice | EllipsisType | SupportsIndex, value: ArrayLike | Phantom) -> None:
        if isinstance(key, slice):
            length = self._length(key)
        elif isinstance(key, EllipsisType):
            length = self.size
        else:
            length, index = 1, integer("an index", key, 64)
            if not -self.size <= index < self.size:
                raise IndexError(f"index {index} is out of range for a phantom of {self.size} elements")
        amount = value.size if isinstance(value, Phantom) else np.size(value)
        if amount not in (length, 1):
            raise mpi_error(ERR_BUFFER, f"cannot assign {amount} elements to {length} of a phantom.", MPIValueError)

    def __iter__(self) -> NoReturn:
        raise mpi_error(ERR_BUFFER, f"a phantom of {self.size} elements has no contents to iterate over.", MPITypeError)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise mpi_error(ERR_BUFFER, f"a phantom of {self.nbytes} bytes cannot become an array.", MPITypeError)

    def _length(self, key: slice) -> int:
        if key.step not in (None, 1):
            sentence = f"slices of a phantom have step 1, not {key.step}: only contiguous messages are modeled."
            raise mpi_error(ERR_BUFFER, sentence, MPIBufferError)
        start, stop, _ = key.indices(self.size)
        return max(0, stop - start)

    def copy(self) -> Phantom:
        """Return the phantom itself, since it is immutable."""
        return self

    def ravel(self) -> Phantom:
        """Return the phantom itself, since it has one dimension."""
        return self

    flatten = ravel

    def fill(self, value: object) -> None:
        """Do nothing."""

    def reshape(self, *shape: object) -> Phantom:
        """Return the phantom itself, if the shape is -1 or its own size; it has only one dimension."""
        (wanted,) = shape if len(shape) == 1 else (shape,)
        if wanted in (-1, (-1,), [-1], self.size, (self.size,), [self.size]):
            return self
        raise mpi_error(ERR_ARG, f"a phantom of {self.size} elements cannot be reshaped to {wanted}.", MPIValueError)

    def view(self, dtype: DTypeLike | None = None) -> Phantom:
        """Return a phantom of the same size in bytes, with elements of a dtype."""
        itemsize = self.itemsize if dtype is None else np.dtype(dtype).itemsize
        return self if itemsize == self.itemsize else phantom(self.nbytes, itemsize)

    def empty(self, size: int) -> Phantom:
        """Return scratch space: a phantom of `size` elements of the same size."""
        return phantom(integer("size", size, 64) * self.itemsize, self.itemsize)


_set_size, _set_itemsize, _set_nbytes = (Phantom.__dict__[name].__set__ for name in ("size", "itemsize", "nbytes"))
_dtypes: dict[int, np.dtype[np.void]] = {}


def phantom(nbytes: int, itemsize: int = 1) -> Phantom:
    """Return a buffer with a size and no contents: it is modeled in full and takes no memory.

    Parameters
    ----------
    nbytes
        Its size in bytes.
    itemsize
        The size of an element in bytes; `nbytes` is a multiple of it.

    Returns
    -------
    Phantom
        It is sent, received, sliced and assigned like a numpy array.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Bcast(fakempi.phantom(10**9)), 4, cost=fakempi.Hockney(t_s=0, t_w=1e-9)).time
    1.0625
    """
    nbytes, itemsize = integer("nbytes", nbytes, 64), integer("itemsize", itemsize, 64)
    if itemsize < 1:
        raise mpi_error(ERR_ARG, f"itemsize {itemsize} is not positive.", MPIValueError)
    if nbytes < 0:
        raise mpi_error(ERR_ARG, f"nbytes {nbytes} is negative.", MPIValueError)
    if nbytes % itemsize:
        raise mpi_error(ERR_ARG, f"nbytes {nbytes} is not a multiple of itemsize {itemsize}.", MPIValueError)
    return Phantom(nbytes // itemsize, itemsize)
