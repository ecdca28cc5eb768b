"""Libraries that replace Python's threads, as gevent's monkey patching does."""

from __future__ import annotations

import _thread
import subprocess
import sys
from typing import Any

import pytest

import fakempi
from tests.helpers.packages import needs

NEEDS = r"needs threads of the operating system, and gevent has replaced Python's threads"

PROGRAM = """
import sys
before, arguments = sys.argv[1] == "before", eval(sys.argv[2])
if before:
    from gevent import monkey
    monkey.patch_all(**arguments)
import fakempi
if not before:
    from gevent import monkey
    monkey.patch_all(**arguments)

def main(comm):
    comm.send(comm.rank, (comm.rank + 1) % comm.size)
    return comm.recv()

for options in ({"backend": "greenlets"}, {"backend": "greenlets", "timeout": 20}, {"backend": "threads"}):
    try:
        print(fakempi.run(main, 3, **options).returns)
    except ValueError as error:
        print(str(error).partition(",")[0])
"""


def replaced(function: Any, arguments: Any) -> int:
    """The function that starts threads after gevent has patched Python."""
    raise AssertionError("this must not be called")


@pytest.mark.parametrize("options", [{"backend": "threads"}, {"timeout": 5}, {"backend": "threads", "timeout": 5}])
def test_features_that_need_real_threads_are_rejected_if_there_are_none(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run on such threads would hang, including its time-out."""
    # so that everything is imported with real threads
    fakempi.run(lambda comm: comm.Barrier(), 2, backend="threads", timeout=60)
    monkeypatch.setattr(replaced, "__module__", "gevent.thread")
    monkeypatch.setattr(_thread, "start_new_thread", replaced)
    with pytest.raises(ValueError, match=NEEDS):
        fakempi.run(lambda comm: comm.Barrier(), 2, **options)


def test_a_nested_run_has_real_threads(backend: Any) -> None:
    """While a run is active, threads are started by a function of fakempi, which is no reason to reject them."""

    def main(comm: Any) -> Any:
        return fakempi.run(lambda inner: inner.allreduce(1), 2, backend="threads", timeout=60).returns

    assert fakempi.run(main, 2, backend=backend).returns == [[2, 2]] * 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_gevent(when: str) -> None:
    """Greenlets work; features that need threads are rejected, unless gevent does not patch them."""
    needs("gevent")
    for arguments in ("{}", "{'thread': False}"):
        command = [sys.executable, "-c", PROGRAM, when, arguments]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
        if arguments == "{}":
            words = "needs threads of the operating system"
            assert found == ["[2, 0, 1]", f"run: timeout= {words}", f"run: backend='threads' {words}"]
        else:
            assert found == ["[2, 0, 1]"] * 3
