"""If memory or threads are exhausted there is a message, and the process can run again."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI

ROOT = Path(__file__).parents[2]
BEGINNING = """
import resource, sys, threading
import numpy as np
import fakempi

def again():
    return fakempi.run(lambda comm: comm.allreduce(1), 3, backend=backend).returns

def limited(main, ranks, megabytes):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
    try:
        fakempi.run(main, ranks, backend=backend)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(said, again(), threading.active_count())

def takes_all(comm):
    comm.barrier()
    keep = []
    while comm.rank == 2:
        keep.append(np.ones(10**6))
    comm.recv(source=2)

def sends_all(comm):
    while comm.rank == 0:
        comm.send(bytes(30_000), 1)
    comm.recv(source=0, tag=7)

backend = sys.argv[1]
again()
limited(lambda comm: comm.barrier(), 400_000, 40)
limited(takes_all, 4, 100)
limited(sends_all, 2, 60)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited here as Linux does it")
def test_exhausted_memory_ends_a_run_and_not_the_process(backend: Any) -> None:
    """Too many ranks, one that allocates all, messages without receives. Where it ends depends on the machine."""
    words = [sys.executable, "-c", BEGINNING, backend]
    done = subprocess.run(words, capture_output=True, text=True, timeout=270, check=False, cwd=ROOT)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "MemoryError: run: there is not enough memory for 400,000 ranks and their data. [3, 3, 3] 1"
    for line, rank in ((lines[1], 2), (lines[2], 0)):
        assert line.startswith(f"RankError: rank {rank} failed with MemoryError")
        assert line.endswith(" [3, 3, 3] 1")


def test_exhausted_threads_end_a_run_and_not_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started threads are stopped."""
    start, begun = threading.Thread.start, list[threading.Thread]()

    def starts(thread: threading.Thread) -> None:
        if len(begun) == 20:
            raise RuntimeError("can't start new thread")
        start(thread)
        begun.append(thread)

    words = (
        "run: the system cannot start more threads after 20 of 50 ranks. Use backend='greenlets', which needs none, or "
        "fewer ranks."
    )
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", starts)
        with pytest.raises(fakempi.RunError) as caught:
            fakempi.run(lambda comm: comm.barrier(), 50, backend="threads")
    assert str(caught.value) == words
    assert not any(thread.is_alive() for thread in begun)
    assert fakempi.run(lambda comm: comm.allreduce(1), 3, backend="threads").returns == [3, 3, 3]


@pytest.mark.parametrize("watched", [False, True])
def test_a_thread_that_cannot_be_started_is_not_blamed_on_a_rank(monkeypatch: pytest.MonkeyPatch, watched: bool) -> None:
    """Whichever rank was running."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        if watched:
            patch.setattr(import_module("fakempi.extensions.monitoring.monitor"), "start_new_thread", refuse)
        else:
            patch.setattr("threading.Thread.start", refuse)
        with pytest.raises(fakempi.RunError, match=r"^run: the system cannot start more threads.*, or fewer ranks\.$"):
            fakempi.run(lambda comm: None, 2, backend="threads", timeout=10 if watched else None)
    assert fakempi.run(lambda comm: comm.rank, 2, backend="threads").returns == [0, 1]


def generator(comm: Any) -> Any:
    """Return a coroutine."""
    yield comm.barrier()


async def coroutine(comm: Any) -> None:
    """Return a generator."""
    comm.barrier()


async def agenerator(comm: Any) -> Any:
    """Return an asynchronous generator."""
    yield comm.barrier()


@pytest.mark.parametrize("main", [generator, coroutine, agenerator])
def test_a_main_that_returns_an_unstarted_coroutine_is_reported(main: Any, backend: Any) -> None:
    """Nothing has run, although the run looks successful."""
    kind = "async generator" if main is agenerator else main.__name__
    place = rf"test_exhaustion\.py:{main.__code__.co_firstlineno}"
    words = rf"^run: rank 0 returned the {kind} {main.__name__} \({place}\), which has not been started: run it in main"
    with pytest.raises(MPI.Exception, match=words):
        fakempi.run(lambda comm: main(comm), 3, backend=backend)


def test_other_results_are_returned() -> None:
    """A generator that has started or ended, one in a tuple; and completed ones."""

    def main(comm: Any) -> Any:
        begun = generator(comm)
        next(begun)
        return begun, (each for each in range(comm.rank))

    found = fakempi.run(main, 2).returns
    assert [list(squares) for _, squares in found] == [[], [0]]
    assert fakempi.run(lambda comm: main(comm)[0], 2).returns
