"""Per-thread state of Python is private to a rank, also if ranks are greenlets that share a thread."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import fakempi

LOCAL = threading.local()
VARIABLE = contextvars.ContextVar("VARIABLE", default=-1)


class Counted(threading.local):
    """Initialized in every thread."""

    made = 0

    def __init__(self, start: int) -> None:
        type(self).made += 1
        self.value = start


def use(comm: Any, local: Any) -> None:
    """Set a value, let others run, and read it again."""
    assert not hasattr(local, "x")
    local.x = comm.rank
    for _ in range(3):
        comm.Barrier()
        assert local.x == comm.rank
        comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        assert vars(local) == {"x": comm.rank}


def test_a_thread_local_of_a_module_is_private_to_a_rank(backend: Any) -> None:
    """The caller's values are not visible, and are unchanged afterwards."""
    LOCAL.y = "outside"
    for ranks in (1, 2, 5):
        fakempi.run(lambda comm: use(comm, LOCAL), ranks, backend=backend)
    assert vars(LOCAL) == {"y": "outside"}


def test_a_thread_local_of_a_closure_is_private_to_a_rank(backend: Any) -> None:
    """Also of a partial function."""
    local = threading.local()
    fakempi.run(lambda comm: use(comm, local), 3, backend=backend)
    fakempi.run(partial(lambda extra, comm: use(comm, local), 1), 3, backend=backend)
    assert vars(local) == {}


def test_a_thread_local_that_a_rank_creates_is_private(backend: Any) -> None:
    """Also one that a single rank creates and others use."""
    shared: list[Any] = []

    def main(comm: Any) -> None:
        use(comm, threading.local())
        if comm.rank == 0:
            shared.append(threading.local())
        comm.Barrier()
        use(comm, shared[0])

    fakempi.run(main, 3, backend=backend)


def test_a_subclass_is_initialized_on_every_rank(backend: Any) -> None:
    """As in every thread."""
    Counted.made = 0
    local = Counted(7)

    def main(comm: Any) -> None:
        assert local.value == 7
        local.value = comm.rank
        comm.Barrier()
        assert local.value == comm.rank

    fakempi.run(main, 4, backend=backend)
    assert (Counted.made, local.value) == (5, 7)


def test_ranks_that_never_wait_do_not_see_values_of_the_previous_one(backend: Any) -> None:
    """A rank may end before another starts; it may fail, too."""

    def main(comm: Any) -> None:
        assert not hasattr(LOCAL, "x")
        LOCAL.x = comm.rank

    def fails(comm: Any) -> None:
        main(comm)
        raise KeyError

    fakempi.run(main, 4, backend=backend)
    with pytest.raises(fakempi.RankError):
        fakempi.run(fails, 2, backend=backend)
    fakempi.run(main, 4, backend=backend)


def test_context_variables_are_private_to_a_rank(backend: Any) -> None:
    """As in every thread."""

    def main(comm: Any) -> None:
        assert VARIABLE.get() == -1
        VARIABLE.set(comm.rank)
        comm.Barrier()
        assert VARIABLE.get() == comm.rank

    fakempi.run(main, 3, backend=backend)


async def talk(comm: Any) -> int:
    """Wait for messages and for time, in turn."""
    await asyncio.sleep(0)
    comm.Barrier()
    task = asyncio.ensure_future(asyncio.sleep(0, comm.rank))
    total: int = comm.allreduce(await task)
    assert asyncio.current_task() is not None
    return total


def by_run(comm: Any) -> int:
    """In a new event loop."""
    return asyncio.run(talk(comm))


def by_loop(comm: Any) -> int:
    """In the current event loop."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    comm.Barrier()
    assert asyncio.get_event_loop_policy().get_event_loop() is loop
    total = loop.run_until_complete(talk(comm))
    asyncio.set_event_loop(None)
    loop.close()
    return total


@pytest.mark.parametrize("function", [by_run, by_loop])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ranks_run_event_loops_at_the_same_time(backend: Any, function: Callable[[Any], int]) -> None:
    """Each has its running loop, its current loop and its current task."""
    assert fakempi.run(function, 4, backend=backend).returns == [6] * 4


@pytest.mark.slow
def test_asyncio_may_be_imported_by_a_rank() -> None:
    """It is changed when it is imported, and restored after the run."""
    code = """
import sys, fakempi
def main(comm):
    import asyncio
    async def talk():
        return comm.allreduce(1)
    return asyncio.run(talk())
before = list(sys.meta_path)
assert "asyncio.events" not in sys.modules
assert fakempi.run(main, 3).returns == [3, 3, 3] and sys.meta_path == before
import asyncio.events
assert type(asyncio.events._set_running_loop).__name__ == "builtin_function_or_method"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=270)


@pytest.mark.slow
def test_a_run_that_uses_none_of_this_has_no_additional_step() -> None:
    """Its loop waits as usual."""

    def main(comm: Any) -> bool:
        comm.Barrier()
        return "wait" in vars(comm._process.loop)

    assert fakempi.run(main, 2).returns == [True, True]  # its module has a threading.local
    code = "import fakempi\ndef main(comm):\n    comm.Barrier()\n    return 'wait' in vars(comm._process.loop)\n"
    code += "assert fakempi.run(main, 2).returns == [False, False]"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=270)
