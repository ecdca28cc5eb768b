"""How deep a program may nest calls, on both carriers: as deep as Python allows, and then it is told."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import fakempi


def through_c(depth: int) -> Any:
    """A call within a call, each by way of C, which takes most of a stack."""
    return sorted([depth - 1], key=through_c)[0] if depth else 0


def test_calls_may_nest_as_deep_as_python_allows(carrier: str) -> None:
    """Through C and back: Python's limit comes before the end of the stack."""

    def main(comm: Any) -> Any:
        deep = through_c(150)
        with pytest.raises(RecursionError):
            through_c(10**6)
        return comm.allreduce(deep + 2)

    assert fakempi.run(main, 3, carrier=carrier).returns == [through_c(150) * 3 + 6] * 3


def test_ctrl_c_before_the_first_task_has_begun_ends_the_run() -> None:
    """It comes while the hub starts a thread, or just before it hands the baton on."""
    program = """
import signal, sys, fakempi
from fakempi.kernel import threads
signal.signal(signal.SIGINT, lambda *args: signal.default_int_handler(*args))  # the program's own, so it raises anywhere
start, when = threads._start_thread, sys.argv[1]
def interrupted(thread):
    if when == "after":
        start(thread)
    threads._start_thread = start
    signal.raise_signal(signal.SIGINT)
threads._start_thread = interrupted
try:
    fakempi.run(lambda comm: comm.Barrier(), 3, carrier="threads")
except KeyboardInterrupt:
    print("interrupted", fakempi.run(lambda comm: comm.allreduce(1), 3, carrier="threads").returns)
"""
    for when in ("before", "after"):
        command = [sys.executable, "-c", program, when]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert (done.stdout, done.stderr) == ("interrupted [3, 3, 3]\n", "")
