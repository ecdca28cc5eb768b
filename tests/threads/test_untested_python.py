"""On a version of Python that was not tested, what depends on the interpreter's inside is switched off, with one warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fakempi.core import interpreter
from tests.cli.test_running import BEGINNING, ENVIRONMENT

ROOT = Path(__file__).parents[2]

START = """
import ctypes, gc, sys
from fakempi.core import interpreter
interpreter.NEWEST = (3, 9)

def changed(*args):
    raise AssertionError("the inside of this version is unknown")

gc.get_referents = changed
for name in ("PyType_Modified", "PyThreadState_GetDict", "PyObject_GenericSetAttr"):
    setattr(ctypes.pythonapi, name, changed)
from fakempi.apps.cli import main
sys.exit(main(["run", "-n", "2", *sys.argv[1:]]))
"""
"""The command on a Python that counts as newer than those that were tested, without the means of changing compiled types."""

USE = """
import asyncio, datetime, logging, queue, threading, time
from mpi4py.futures import MPIPoolExecutor
async def receive():
    return comm.sendrecv(comm.rank, dest=1 - comm.rank)
assert asyncio.run(receive()) == 1 - comm.rank
time.sleep(60)
assert time.time() - datetime.datetime.now().timestamp() > 50  # of these, the second is the real clock
local = threading.local()
local.rank = comm.rank
with threading.RLock():
    logging.getLogger("x").info("a lock")
queue.SimpleQueue().put(1)
request = comm.irecv(source=1 - comm.rank)
comm.send(None, dest=1 - comm.rank)
while not request.test()[0]:
    pass
print(comm.allreduce(1))
"""
THREAD = """
import threading
try:
    threading.Thread(target=int).start()
except MPI.Exception as error:
    print(error)
"""


def untested(*words: str) -> tuple[int, str, str]:
    """The exit code and the output of `fakempi run -n 2` on an unknown Python."""
    command = [sys.executable, "-c", START, *words]
    done = subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True, timeout=200, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["greenlets", "threads"])
def test_scripts_run_on_an_untested_python_with_one_warning(name: str) -> None:
    """With locks, queues, event loops, sleep and polling."""
    code, out, err = untested("--backend", name, "-c", BEGINNING + USE)
    assert (code, out) == (0, "2\n2\n"), err
    assert err.count("RuntimeWarning: fakempi was tested with Python 3.10 to 3.13, and this is Python 3.") == 1
    assert "Switched off: threads of ranks" in err


def test_threads_of_ranks_are_an_error_on_an_untested_python() -> None:
    """A lock of a compiled type would block all ranks."""
    code, out, _ = untested("-c", BEGINNING + THREAD)
    assert code == 0
    assert out.count("threads of ranks need a version of Python that was tested: Python 3.10 to 3.13, not Python 3.") == 2


def test_the_versions_that_were_tested_are_those_of_the_classifiers_and_of_ci() -> None:
    """Of pyproject.toml, .ci/full and the workflows."""
    classifiers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', classifiers)
    assert versions == [f"3.{minor}" for minor in range(10, interpreter.NEWEST[1] + 1)]
    assert f"Python {versions[0]} to {versions[-1]}" == interpreter.TESTED
    if (ROOT / ".ci").exists():  # an archive of the sources has none
        steps = (ROOT / ".ci" / "steps.py").read_text(encoding="utf-8")
        assert re.findall(r'"(3\.\d+)"', re.findall(r"^VERSIONS = .*$", steps, re.MULTILINE)[0]) == versions
