"""Interruption of ranks: code that must not be interrupted is protected, and a rank that never ends is suspended."""

from __future__ import annotations

import select
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import NoReturn

import pytest

import fakempi
from fakempi import MPI
from fakempi.extensions.monitoring import interruption
from fakempi.extensions.monitoring.interruption import PROTECTED, SEMAPHORES, SERVES_CHILD


def test_protected_modules_exist() -> None:
    """A module that was renamed would no longer be protected, or interrupted."""
    assert [name for name in (*PROTECTED, SEMAPHORES, SERVES_CHILD) if find_spec(name) is None] == []


@pytest.mark.sample
@pytest.mark.slow
def test_a_rank_that_never_ends_computes_no_longer_after_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is abandoned during a long call. When the call returns, the rank catches all exceptions and continues."""
    monkeypatch.setattr(interruption, "GRACE", 0.01)
    turns = [0]

    def main(comm: MPI.Intracomm) -> NoReturn:
        with suppress(BaseException):
            select.select([], [], [], 0.5)  # longer than all grace periods
        while True:
            try:
                while True:
                    turns[0] += 1
            except BaseException:
                pass

    with pytest.raises(TimeoutError):
        fakempi.run(main, 1, backend="threads", timeout=0.01)
    seen: list[int] = []
    while len(seen) < 3 or not seen[-3] == seen[-2] == seen[-1] > 0:
        assert len(seen) < 600, "it still computes after a minute"
        seen.append(turns[0])
        time.sleep(0.1)
