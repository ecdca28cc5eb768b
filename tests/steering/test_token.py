"""A schedule as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.modelcheck.steering.token import UNLIMITED, LibraryMode, read, write

MODES = st.builds(LibraryMode, st.one_of(st.sampled_from([-1, UNLIMITED]), st.integers(0, 10**15)), st.booleans())


@given(MODES, st.lists(st.integers(0, 12)))
def test_parsing_inverts_formatting(mode: LibraryMode, decisions: list[int]) -> None:
    """Except for zeros at the end, which are omitted."""
    token = write(mode, decisions)
    kind, found = read(token)
    assert kind == mode
    assert [*found, *[0] * (len(decisions) - len(found))][: len(decisions)] == decisions
    assert " " not in token


@pytest.mark.parametrize(
    ("mode", "decisions", "token"),
    [
        ("zero", [0, 0, 2, 1], "z:0.0.2.1"),
        ("infinite", [], "i:0"),
        ("zero", [1, 0, 0], "z:1"),
        ("infinite", [0] * 12 + [3], "i:0x12.3"),
        (LibraryMode(64), [0, 1], "s64:0.1"),
        (LibraryMode(0, True), [], "s0b:0"),
        (LibraryMode(-1, True), [2], "zb:2"),
        (LibraryMode(UNLIMITED, True), [0], "ib:0"),
    ],
)
def test_a_token_is_short(mode: LibraryMode | str, decisions: list[int], token: str) -> None:
    """Zeros at the end are omitted, and repetitions are counted."""
    assert write(mode, decisions) == token


@pytest.mark.parametrize("token", ["", "z", "0.1", "s²:0", "q:1", "z64:0", "z:1..2", "z:1 2", "z:x3", "s:1", "s-1:0"])
def test_malformed_tokens_are_rejected(token: str) -> None:
    """The message has the format."""
    with pytest.raises(MPI.Exception, match=r"^schedule .* is malformed: a schedule is z: or .* such as 'z:0.0.2.1'\.$"):
        read(token)


@pytest.mark.parametrize("token", ["z:0x99999999999", "i:0" + ".0x9999999" * 9, f"z:{10**30}", "z:0x" + "9" * 5000])
def test_a_short_text_does_not_exhaust_memory(token: str) -> None:
    """The token was once expanded before it was checked."""
    with pytest.raises(MPI.Exception, match=r"^schedule '.*' has too many choices, or a choice with too many options\.$"):
        read(token)
