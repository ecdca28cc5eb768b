"""Random programs of ranks and threads end, with the same outcome on both backends."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import example, given

from tests.fuzz.programs import differences, programs
from tests.helpers.leftovers import new_threads

BACKENDS = ("greenlets", "threads") if find_spec("greenlet") else ("threads",)


# Threads raise SystemExit, which Python ignores at the end of a thread, and which pytest reports.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@given(programs)
@example([[[("start", 1)], [("fail",)]]])
def test_a_program_has_one_outcome(program: Any) -> None:
    """Whatever the program does and waits for; no thread is left."""
    before = threading.enumerate()
    assert list(differences(program, BACKENDS)) == []
    assert new_threads(before) == []
