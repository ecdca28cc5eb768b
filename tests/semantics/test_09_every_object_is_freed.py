"""Rule 9, second part: whatever objects a program creates and however its run ends, nothing of it stays alive."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.leftovers import new_threads
from tests.semantics.every_object import Refs, program

ENDINGS = ["returns", "fails", "is interrupted", "aborts", "hangs"]

RUNS = 40
"""Per ending: 200 runs on each backend."""


class Counts:
    """Objects, blocks of memory and file descriptors of this process."""

    def __init__(self) -> None:
        gc.collect()
        self.objects, self.blocks = len(gc.get_objects()), sys.getallocatedblocks()
        self.descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def outcome(refs: Refs, path: Path, ending: str, **options: Any) -> str:
    """The result of one run, or the text of its error."""
    try:
        return str(fakempi.run(program, 3, refs, str(path / "file"), ending, **options).returns)
    except (fakempi.RunError, KeyboardInterrupt) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.quick(1)
@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_alive_after_runs_that_create_objects_of_each_kind(backend: Any, tmp_path: Path, ending: str) -> None:
    """No object, thread or descriptor is left, nothing grows, and all runs have the same numbers and texts."""
    threads = threading.enumerate()
    outcomes = {outcome([], tmp_path, ending, backend=backend) for _ in range(5)}
    refs: Refs = []
    before = Counts()
    for _ in range(RUNS):
        outcomes.add(outcome(refs, tmp_path, ending, backend=backend))
    gc.collect()
    assert len(refs) > 100 * RUNS
    assert [each for each in (ref() for ref in refs) if each is not None] == []
    refs.clear()
    after = Counts()
    assert after.objects - before.objects < RUNS / 2
    assert after.blocks - before.blocks < 10 * RUNS  # numpy stores some hundred freed blocks for reuse
    assert after.descriptors == before.descriptors
    assert new_threads(threads) == []
    assert len(outcomes) == 1


@pytest.mark.parametrize("options", [{"strict": True}, {"trace": True}, {"fused": "never"}, {"seed": 3}, {"cpu_scale": 1.0}])
def test_nothing_is_alive_after_a_run_with_options(backend: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    """Whatever a run observes or records is gone with its result."""
    refs: Refs = []
    outcome(refs, tmp_path, "returns", backend=backend, **options)
    gc.collect()
    assert len(refs) > 100
    assert [each for each in (ref() for ref in refs) if each is not None] == []


def test_nothing_is_alive_after_a_run_that_exceeds_its_time_limit(backend: Any) -> None:
    """The callback of a key refers to an object, and the key is never freed."""
    refs: Refs = []

    def main(comm: Any) -> None:
        comm.Set_attr(MPI.Comm.Create_keyval(lambda *args: None), objects := {comm.rank})
        refs.append(weakref.ref(objects))
        while True:
            time.sleep(0.001)

    with pytest.raises(fakempi.RunTimeoutError):
        fakempi.run(main, 2, backend=backend, timeout=0.02)
    gc.collect()
    assert [ref() for ref in refs] == [None] * len(refs)
    assert refs
