"""Phantoms: arrays without contents."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.errors import MPIBufferError, MPIError, MPITypeError, MPIValueError
from fakempi.mpi.buffers.phantom import Phantom, phantom


@given(st.integers(0, 1 << 50), st.integers(1, 64))
def test_a_phantom_has_the_sizes_of_an_array(size: int, itemsize: int) -> None:
    """All of numpy's size attributes and the shape."""
    ghost = phantom(size * itemsize, itemsize)
    assert (ghost.nbytes, ghost.size, ghost.itemsize, ghost.shape) == (size * itemsize, size, itemsize, (size,))
    assert (ghost.ndim, len(ghost), ghost.dtype.itemsize) == (1, size, itemsize)
    assert eval(repr(ghost)) == ghost


@given(st.integers(0, 20), st.slices(20))
def test_slices_have_the_length_of_an_arrays_slices(size: int, key: slice) -> None:
    """With step 1; other steps are rejected."""
    ghost, there = phantom(8 * size, 8), np.zeros(size)
    if key.step in (None, 1):
        assert ghost[key] == phantom(there[key].nbytes, 8)
        ghost[key] = there[key]
        ghost[key] = ghost[key]
        ghost[key] = 0.5
    else:
        with pytest.raises(MPIBufferError, match=rf"slices of a phantom have step 1, not {key.step}: .*"):
            ghost[key]


def test_phantoms_are_compared_by_their_sizes() -> None:
    """They are hashable; they do not equal arrays."""
    assert phantom(8) == phantom(8) != phantom(9)
    assert phantom(8) != phantom(8, 2)
    assert hash(phantom(8, 2)) == hash(phantom(8, 2))
    assert phantom(1) != np.zeros(1)
    assert np.zeros(1) != phantom(1)
    assert fakempi.phantom is phantom


def test_operations_that_move_nothing_return_the_phantom_itself() -> None:
    """Copying, flattening, and reshaping to the same shape."""
    ghost = phantom(24, 8)
    for same in (ghost.copy(), ghost.ravel(), ghost.flatten(), ghost[...], ghost.view(), ghost.view("f8")):
        assert same is ghost
    for shape in (-1, 3, (-1,), (3,), [3]):
        assert ghost.reshape(shape) is ghost
    ghost.fill(3)


def test_scratch_space_has_the_same_element_type() -> None:
    """Algorithms use it in place of np.empty."""
    assert phantom(24, 8).empty(5) == phantom(40, 8)
    assert phantom(24, 8).view(np.int32) == phantom(24, 4)


def test_a_phantom_can_be_pickled() -> None:
    """Inside other objects."""
    assert pickle.loads(pickle.dumps(phantom(24, 8))) == phantom(24, 8)


def test_a_phantom_cannot_be_changed() -> None:
    """All ranks may share one."""
    ghost: Any = phantom(8)
    with pytest.raises(AttributeError, match=r"^a phantom cannot be changed: size$"):
        ghost.size = 5
    with pytest.raises(AttributeError, match=r"^a phantom cannot be changed: size$"):
        del ghost.size
    with pytest.raises(AttributeError):
        ghost.color = "pale"


def test_assignment_needs_a_matching_size() -> None:
    """Or a single value, which numpy would broadcast."""
    ghost = phantom(24, 8)
    ghost[...] = np.zeros((3, 1))
    ghost[1] = ghost[-1] = 4
    with pytest.raises(MPIValueError, match=r"^Phantom: cannot assign 2 elements to 3 of a phantom\.$"):
        ghost[:] = np.zeros(2)
    with pytest.raises(MPIValueError, match=r"cannot assign 2 elements to 1 of a phantom\.$"):
        ghost[0:1] = phantom(16, 8)
    with pytest.raises(IndexError, match=r"^index 3 is out of range for a phantom of 3 elements$"):
        ghost[3] = 1


CONTENTS: list[tuple[Any, type[MPIError], str]] = [
    (lambda g: g[0], MPITypeError, r"a phantom of 3 elements has no contents to read: \[0\] is not a slice\."),
    (lambda g: g[[1]], MPITypeError, r"a phantom of 3 elements has no contents to read: \[\[1\]\] is not a slice\."),
    (list, MPITypeError, r"a phantom of 3 elements has no contents to iterate over\."),
    (np.asarray, MPITypeError, r"a phantom of 24 bytes cannot become an array\."),
    (lambda g: np.zeros(3).__setitem__(slice(3), g), MPITypeError, r"a phantom of 24 bytes cannot become an array\."),
    (lambda g: g.reshape(2, 2), MPIValueError, r"a phantom of 3 elements cannot be reshaped to \(2, 2\)\."),
    (lambda g: g.view("S5"), MPIValueError, r"nbytes 24 is not a multiple of itemsize 5\."),
    (lambda g: g.empty(-1), MPIValueError, r"nbytes -8 is negative\."),
    (lambda g: g.empty(1.0), MPITypeError, r"size is 1\.0, not an integer\."),
]


@pytest.mark.parametrize(("use", "kind", "words"), CONTENTS)
def test_reading_contents_raises(use: Any, kind: type[MPIError], words: str) -> None:
    """An error message, not a wrong number."""
    with pytest.raises(kind, match=f"{words}$"):
        use(phantom(24, 8))


def test_arithmetic_with_phantoms_raises() -> None:
    """There are no contents."""
    ghost: Any = phantom(24, 8)
    with pytest.raises(TypeError):
        np.zeros(3) + ghost


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((-1,), MPIValueError, r"nbytes -1 is negative\."),
        ((8, 0), MPIValueError, r"itemsize 0 is not positive\."),
        ((7, 2), MPIValueError, r"nbytes 7 is not a multiple of itemsize 2\."),
        ((1.5,), MPITypeError, r"nbytes is 1\.5, not an integer\."),
    ],
)
def test_invalid_sizes_are_rejected(arguments: Any, kind: type[MPIError], words: str) -> None:
    """With the numbers."""
    with pytest.raises(kind, match=f"^phantom: {words}$"):
        phantom(*arguments)


def test_a_phantom_is_tiny() -> None:
    """Three integers and no dictionary."""
    assert not hasattr(Phantom(1), "__dict__")
