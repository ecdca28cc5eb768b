"""Digests of states: different values have different digests, and equal values have equal digests in every process."""

import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakempi.modelcheck.steering.state_hash import digest, encoded_keys
from tests.helpers.breadth import examples

VALUES: list[Any] = [
    (), (()), ((),), (None,), ("",), (b"",), (0,), (0.0,), (-0.0,), (False,), (True,), (1,), (1.0,), (-1,), (-2,),
    (2**61 - 1,), (2**61 - 2,), (2**64,), ("1",), (b"1",), ("not yet",), (b"not yet",), (1, 2), (12,), (1, (2,)), ((1, 2),),
    ((1,), 2), ("a", "b"), ("ab",), ("ab", ""), ("", "ab"), ("i1;",), (b"i1;",), ("\x00",), ("\ud800",), ("N",),
    (frozenset(),), (frozenset({1}),), (frozenset({1, 2}),), (frozenset({(1, 2)}),), (frozenset({12}),),
    (Fraction(1, 2),), (Fraction(1, 3),), (0.5,), (float("inf"),),
]  # fmt: skip


def test_different_values_have_different_digests() -> None:
    """Including pairs for which Python's `hash` or `==` is equal: -1 and -2, True and 1, 0 and 2**61 - 1."""
    same = [
        (one, other)
        for one, other in combinations(VALUES, 2)
        if digest(*one) == digest(*other) and repr(one) != repr(other)
    ]  # fmt: skip
    assert same == []


def test_keys_of_options_are_a_set() -> None:
    """Their order and their number do not matter; keys of several parts differ from several keys."""
    one, other = ((1,), (((1,), "recv", 2), "not yet")), ((1,), (((1,), "recv", 2), (0, 1)))
    assert encoded_keys([one, other]) == encoded_keys([other, one, other]) != encoded_keys([one])
    assert len({encoded_keys(keys) for keys in ([], [(1,)], [(2,)], [(1,), (2,)], [(1, 2)], [((1,), (2,))])}) == 6


LEAVES = st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=4), st.binary(max_size=4))
EVENTS = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)


@pytest.mark.sample
@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(EVENTS, EVENTS)
def test_nested_events_have_equal_digests_only_if_they_are_equal(one: Any, other: Any) -> None:
    """`repr` distinguishes True from 1 and the nesting of tuples."""
    assert (digest(one) == digest(other)) == (repr(one) == repr(other))
    assert digest(one, other) != digest((one, other))


@pytest.mark.slow
def test_digests_do_not_depend_on_the_process() -> None:
    """PYTHONHASHSEED changes the hash of texts and the order of sets."""
    code = "from fakempi.modelcheck.steering.state_hash import digest; "
    code += "print(digest('a', b'b', frozenset({'x', 'y', ('z', -1)}), 2**70, None))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=270
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert found == {b"%d\n" % digest("a", b"b", frozenset({"x", "y", ("z", -1)}), 2**70, None)}
