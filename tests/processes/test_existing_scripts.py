"""The tests of scripts in tests/isolation, with ranks that are processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DIRECTORY = Path(__file__).parents[1] / "isolation"
FILES = ("exit", "output", "random_and_time", "process_state", "clocks", "modules", "spawned_scripts", "process_pools",
         "threads", "mpi4py_modules", "tracebacks", "launchers")  # fmt: skip

EXCEPTIONS = (
    "os_exit_ends_the_run_as_mpiexec_does",  # the line of `os._exit` is unknown: the process is gone
    "standard_input_belongs_to_rank_0",  # a stream of the parent that is no file is read to its end for rank 0
    "a_prompt_is_shown_on_a_terminal",  # the same
    "a_thread_of_a_rank_reads",  # threads of a process wait in real time
    "the_time_limit_of_a_run_reads", "clocks_outside_a_run", "nothing_is_exchanged",  # they look into the emulator
    "attributes_of_sys_are_private",  # `sys` cannot be pickled in a process
    "modules_next_to_the_script_are_private",  # it compares addresses, which may be equal in two processes
    "a_redirected_stream_is_reported",  # each process has its own descriptors
    "a_spawned_function_does_not_affect_scripts",  # functions cannot be spawned
    "other_exit_functions_of_shared_packages",  # the end of a process is the end of its rank
    "modules_stay_private_if_ranks_add_finders",  # a finder of one rank is not a finder of others
)  # fmt: skip
"""Tests of behavior that processes do not have."""


def test_exceptions_exist() -> None:
    """A test that was renamed would otherwise fail without an explanation."""
    texts = [(DIRECTORY / f"test_{name}.py").read_text(encoding="utf-8") for name in FILES]
    assert [one for one in EXCEPTIONS if not any(one in text for text in texts)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_scripts_behave_the_same(name: str) -> None:
    """Each file of tests in a separate process, once for each backend."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [f"{DIRECTORY}/test_{name}.py"]
    command += ["-k", " and ".join(f"not {one}" for one in EXCEPTIONS)]
    environment = {**os.environ, "FAKEMPI_SCRIPT_TESTS_IN_PROCESSES": "1"}
    done = subprocess.run(command, cwd=DIRECTORY.parents[1], env=environment, capture_output=True, text=True, timeout=270)
    assert done.returncode == 0, done.stdout
