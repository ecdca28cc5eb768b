"""Values are unchanged after conversion to JSON and back; other types equal nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fakempi.apps.course.values import decode, encode, same, short_text

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner), max_leaves=5
)


def through_json(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


@given(VALUES)
def test_decoding_inverts_encoding(value: Any) -> None:
    """The type is the same, too."""
    assert through_json(value) == value
    assert type(through_json(value)) is type(value)


def test_arrays_keep_type_and_shape() -> None:
    """Empty arrays do too; numpy scalars become Python numbers."""
    for array in (np.arange(6).reshape(2, 3), np.zeros((0, 4), np.float32), np.array([True, False]), np.array([1j])):
        back = through_json(array)
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert np.array_equal(back, array)
    assert through_json(np.float64(0.5)) == 0.5
    assert through_json(Fraction(1, 3)) == Fraction(1, 3)


def test_values_of_other_types_equal_nothing() -> None:
    """They do not equal themselves, and are shown as text."""
    odd = through_json(print)
    assert not same(odd, odd)
    assert short_text(odd) == "builtin_function_or_method <built-in function print>"
    endless: list[Any] = []
    endless.append(endless)
    assert repr(through_json(endless)) == "a list that contains itself"


def test_rows_are_compared_item_by_item() -> None:
    """A list equals a tuple or an array; a text does not."""
    assert same([1, (2, 3)], (1, np.array([2, 3])))
    assert same({1: np.ones(2)}, {1: [1, 1]})
    assert not same([1, 2], [1, 2, 3])
    assert not same("ab", ["a", "b"])
    assert not same(np.ones(2), np.ones(3))
    assert not same(None, np.ones(1))
