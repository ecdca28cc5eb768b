"""The depth of nested calls on both backends: Python's recursion limit applies."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import fakempi


def through_c(depth: int) -> Any:
    """A nested call, each through C, which takes most of a stack."""
    return sorted([depth - 1], key=through_c)[0] if depth else 0


def test_calls_nest_as_deep_as_python_allows(backend: Any) -> None:
    """Through C and back: Python's limit is reached before the end of the stack."""

    def main(comm: Any) -> Any:
        deep = through_c(150)
        with pytest.raises(RecursionError):
            through_c(10**6)
        return comm.allreduce(deep + 2)

    assert fakempi.run(main, 3, backend=backend).returns == [through_c(150) * 3 + 6] * 3


@pytest.mark.sample
@pytest.mark.slow
def test_ctrl_c_before_the_first_task_ends_the_run() -> None:
    """It arrives while the hub starts a thread, or just before it passes control on."""
    program = """
import signal, fakempi
from fakempi.core.kernel import threads
signal.signal(signal.SIGINT, lambda *args: signal.default_int_handler(*args))  # of the program, so it raises anywhere
start = threads._start_thread
def interrupted(thread):
    if when == "after":
        start(thread)
    threads._start_thread = start
    signal.raise_signal(signal.SIGINT)
for when in ("before", "after"):
    threads._start_thread = interrupted
    try:
        fakempi.run(lambda comm: comm.Barrier(), 3, backend="threads")
    except KeyboardInterrupt:
        print("interrupted", fakempi.run(lambda comm: comm.allreduce(1), 3, backend="threads").returns)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=270, check=False)
    assert (done.stdout, done.stderr) == ("interrupted [3, 3, 3]\n" * 2, "")
