"""Values that travel as JSON come back as they were, and what has no form equals nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fakempi.learn.values import decode, encode, in_words, same

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner), max_leaves=5
)


def through(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


@given(VALUES)
def test_what_goes_in_comes_out(value: Any) -> None:
    """Of the same type, too."""
    assert through(value) == value
    assert type(through(value)) is type(value)


def test_arrays_keep_type_and_shape() -> None:
    """Also empty ones; and numbers of numpy are numbers."""
    for array in (np.arange(6).reshape(2, 3), np.zeros((0, 4), np.float32), np.array([True, False]), np.array([1j])):
        back = through(array)
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert np.array_equal(back, array)
    assert through(np.float64(0.5)) == 0.5
    assert through(Fraction(1, 3)) == Fraction(1, 3)


def test_what_has_no_form_equals_nothing() -> None:
    """Not even itself; it is shown as its text."""
    odd = through(print)
    assert not same(odd, odd)
    assert in_words(odd) == "builtin_function_or_method <built-in function print>"
    endless: list[Any] = []
    endless.append(endless)
    assert repr(through(endless)) == "a list that contains itself"


def test_rows_are_compared_item_by_item() -> None:
    """A list is as good as a tuple or an array; a text is not a row."""
    assert same([1, (2, 3)], (1, np.array([2, 3])))
    assert same({1: np.ones(2)}, {1: [1, 1]})
    assert not same([1, 2], [1, 2, 3])
    assert not same("ab", ["a", "b"])
    assert not same(np.ones(2), np.ones(3))
    assert not same(None, np.ones(1))
