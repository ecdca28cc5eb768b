"""Ranks in one process register names of shared memory at one resource tracker of `multiprocessing`."""

from __future__ import annotations

from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.harness import IN_PROCESSES, play

SCRIPT = """
from multiprocessing import resource_tracker
if comm.rank != 3:
    resource_tracker.register("/shared", "shared_memory")
    resource_tracker.register(f"/{comm.rank}", "semaphore")
comm.Barrier()
if comm.rank in (1, 2):
    resource_tracker.unregister("/shared", "shared_memory")
comm.Barrier()
if comm.rank != 3:
    resource_tracker.unregister(f"/{comm.rank}", "semaphore")
if comm.rank == 0:
    resource_tracker.unregister("/shared", "shared_memory")
"""


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_name_is_forgotten_when_the_last_rank_unregisters_it(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    """Programs unregister shared memory on the ranks that only attach to it, and the tracker printed a KeyError for that."""
    calls: list[str] = []
    for name in ("register", "unregister"):
        monkeypatch.setattr(resource_tracker, name, lambda of, kind, name=name: calls.append(f"{name} {of}"))
    play(tmp_path, SCRIPT, ranks, backend)
    if not IN_PROCESSES:
        assert calls.count("register /shared") == min(ranks, 3)
        assert calls.count("unregister /shared") == 1
        assert calls.index("unregister /shared") > max(at for at, call in enumerate(calls) if call.startswith("register"))
        assert sum(call.startswith("unregister") for call in calls) == 1 + min(ranks, 3)
    resource_tracker.register("/after", "semaphore")
    assert IN_PROCESSES or calls[-1] == "register /after"
