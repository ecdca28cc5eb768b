"""A schedule as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.choices.token import read, write


@given(st.sampled_from(["zero", "infinite"]), st.lists(st.integers(0, 12)))
def test_what_was_written_is_read_again(buffering: str, decisions: list[int]) -> None:
    """But for zeros at the end, which go without saying."""
    token = write(buffering, decisions)
    kind, found = read(token)
    assert kind == buffering
    assert [*found, *[0] * (len(decisions) - len(found))][: len(decisions)] == decisions
    assert " " not in token


@pytest.mark.parametrize(
    ("buffering", "decisions", "token"),
    [
        ("zero", [0, 0, 2, 1], "z:0.0.2.1"),
        ("infinite", [], "i:0"),
        ("zero", [1, 0, 0], "z:1"),
        ("infinite", [0] * 12 + [3], "i:0x12.3"),
    ],
)
def test_a_token_is_short(buffering: str, decisions: list[int], token: str) -> None:
    """Zeros at the end are left out, and what comes often is counted."""
    assert write(buffering, decisions) == token


@pytest.mark.parametrize("token", ["", "z", "0.1", "q:1", "z:1..2", "z:-1", "z:1 2", "z:x3"])
def test_what_is_no_token_is_refused(token: str) -> None:
    """And it is said how one looks."""
    with pytest.raises(MPI.Exception, match=r"^decisions .* are no schedule: that is z: or i: .* such as 'z:0.0.2.1'\.$"):
        read(token)


@pytest.mark.parametrize("token", ["z:0x99999999999", "i:0" + ".0x9999999" * 9, f"z:{10**30}", "z:0x" + "9" * 5000])
def test_a_short_text_does_not_take_all_memory(token: str) -> None:
    """It was written out before anybody looked at it."""
    with pytest.raises(MPI.Exception, match=r"^decisions '.*': no program has so many choices, or options of one\.$"):
        read(token)
