"""Phantoms: buffers that have a size and no contents.

A phantom stands where a numpy array would stand. It is sent, received, sliced and assigned like one, every message is
modelled in full, and nothing is ever copied: 8 MB messages among thousands of ranks take no memory.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_BUFFER
from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer


class Phantom:
    """A one-dimensional array of `size` elements of `itemsize` bytes that are not there. Immutable.

    It has the parts of numpy's interface that move data (slices with step 1, slice assignment, `copy`, `fill`,
    `reshape(-1)`), and `empty(size)` for scratch space of the same kind. Whatever would have to look at an element
    raises an error.
    """

    __slots__ = ("itemsize", "nbytes", "size")

    itemsize: int
    nbytes: int
    size: int

    ndim = 1
    base = None  # on nobody's memory
    __array_ufunc__ = None  # numpy's operators leave phantoms alone

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
        """Elements of so many bytes and no meaning."""
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

    def __reduce__(self) -> tuple[Any, ...]:
        return phantom, (self.nbytes, self.itemsize)

    def __getitem__(self, key: slice | Any) -> Phantom:
        if isinstance(key, slice):
            return Phantom(self._length(key), self.itemsize)
        if key is Ellipsis:
            return self
        words = f"a phantom of {self.size} elements has no contents to read, [{key!r}] is not a slice."
        raise complaint(ERR_BUFFER, words, MPITypeError)

    def __setitem__(self, key: slice | Any, value: Any) -> None:
        if isinstance(key, slice):
            room = self._length(key)
        elif key is Ellipsis:
            room = self.size
        else:
            room, at = 1, integer("an index", key)
            if not -self.size <= at < self.size:
                raise IndexError(f"index {at} is out of range for a phantom of {self.size} elements")
        amount = value.size if isinstance(value, Phantom) else np.size(value)
        if amount not in (room, 1):
            raise complaint(ERR_BUFFER, f"{amount} elements do not fit {room} of a phantom.", MPIValueError)

    def __iter__(self) -> NoReturn:
        raise complaint(ERR_BUFFER, f"a phantom of {self.size} elements has no contents to iterate over.", MPITypeError)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise complaint(ERR_BUFFER, f"a phantom of {self.nbytes} bytes cannot become an array.", MPITypeError)

    def _length(self, key: slice) -> int:
        if key.step not in (None, 1):
            words = f"slices of a phantom have step 1, not {key.step}: only contiguous messages are modelled."
            raise complaint(ERR_BUFFER, words, MPIBufferError)
        start, stop, _ = key.indices(self.size)
        return max(0, stop - start)

    def copy(self) -> Phantom:
        """The phantom itself: there is nothing that could change."""
        return self

    def ravel(self) -> Phantom:
        """The phantom itself: it has one dimension."""
        return self

    flatten = ravel

    def fill(self, value: Any) -> None:
        """Do nothing, at any value."""

    def reshape(self, *shape: Any) -> Phantom:
        """The phantom itself, if the shape asked for is -1 or its own size; it has one dimension only."""
        (wanted,) = shape if len(shape) == 1 else (shape,)
        if wanted in (-1, (-1,), [-1], self.size, (self.size,), [self.size]):
            return self
        raise complaint(ERR_ARG, f"a phantom of {self.size} elements cannot be reshaped to {wanted}.", MPIValueError)

    def view(self, dtype: Any = None) -> Phantom:
        """As many bytes, taken as elements of another size."""
        itemsize = self.itemsize if dtype is None else np.dtype(dtype).itemsize
        return self if itemsize == self.itemsize else phantom(self.nbytes, itemsize)

    def empty(self, size: int) -> Phantom:
        """Scratch space: a phantom of `size` elements like these."""
        return phantom(integer("size", size) * self.itemsize, self.itemsize)


_set_size: Any = Phantom.__dict__["size"].__set__
_set_itemsize: Any = Phantom.__dict__["itemsize"].__set__
_set_nbytes: Any = Phantom.__dict__["nbytes"].__set__
_dtypes: dict[int, np.dtype[np.void]] = {}


def phantom(nbytes: int, itemsize: int = 1) -> Phantom:
    """A buffer with a size and no contents: it is modelled in full and takes no memory.

    Parameters
    ----------
    nbytes
        How many bytes it stands for.
    itemsize
        How many bytes an element has; `nbytes` is a multiple of it.

    Returns
    -------
    Phantom
        It is sent, received, sliced and assigned like an array of numpy's.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Bcast(fakempi.phantom(10**9)), 4, cost=fakempi.Hockney(t_s=0, t_w=1e-9)).time
    1.0625
    """
    nbytes, itemsize = integer("nbytes", nbytes), integer("itemsize", itemsize)
    if itemsize < 1:
        raise complaint(ERR_ARG, f"itemsize {itemsize} is not positive.", MPIValueError)
    if nbytes < 0:
        raise complaint(ERR_ARG, f"nbytes {nbytes} is negative.", MPIValueError)
    if nbytes % itemsize:
        raise complaint(ERR_ARG, f"nbytes {nbytes} is not a multiple of itemsize {itemsize}.", MPIValueError)
    return Phantom(nbytes // itemsize, itemsize)
