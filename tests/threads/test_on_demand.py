"""Locks and most of the standard library are changed only in runs that need it, never because of other OS threads."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.core.hooks import Layer
from fakempi.core.kernel.loop import Loop
from fakempi.extensions.threads.program_scan import scan

FIND = """
import faulthandler, sys
faulthandler.dump_traceback_later(300, exit=True)  # if it hangs, the failure shows where
import fakempi
fakempi.run(lambda comm: None, 1)

def library():
    return sys.modules["threading"]  # the scan of the program does not find it, as in an installed package

def is_changed():
    kind = type(library().Lock())
    places = [kind.acquire, kind.release, library().local, library().Thread.__init__]
    changed = {str(getattr(place, "__module__", "")).startswith("fakempi") for place in places}
    assert len(changed) == 1
    return changed.pop()
"""

PROGRAMS = {
    "no threads": ("", "comm.Barrier()", [False, False]),
    "a module of threads": ("import threading", "comm.Barrier()", [True, True]),
    "a lock": ("lock = library().Lock()", "comm.Barrier()", [True, True]),
    "a function's import": ("def use():\n    import concurrent.futures", "comm.Barrier()", [True, True]),
    "a class's base": ("import logging\nclass Tell(logging.Handler): pass", "comm.Barrier()", [True, True]),
    "a module next to it": ("import helper", "comm.Barrier()", [True, True]),
    "a module that a rank imports": ("", "import helper", [False, True]),
    "a thread that a package starts": ("", "library().Thread(target=int).start()", [False, True]),
}


@pytest.mark.slow
def test_locks_are_changed_only_for_programs_that_need_it(backend: Any, tmp_path: Path) -> None:
    """Before and after the step of the single rank; after the run nothing is changed. One process runs all programs."""
    for number, (head, step, expected) in enumerate(PROGRAMS.values()):
        directory = tmp_path / str(number)
        directory.mkdir()
        (directory / "helper.py").write_text("from threading import Lock\n")
        (directory / "work.py").write_text(f"""{FIND}
{head}
def main(comm):
    before = is_changed()
    {step}
    return [before, is_changed()]
assert fakempi.run(main, 1, backend={backend!r}).returns == [{expected}]
assert not is_changed() and library().Thread.start.__module__ == "threading"
""")
    (tmp_path / "all.py").write_text(f"""
import runpy, sys
for number in range({len(PROGRAMS)}):
    sys.path[0] = str(number)
    sys.modules.pop("helper", None)
    runpy.run_path(f"{{number}}/work.py", run_name="__main__")
""")
    done = subprocess.run(
        [sys.executable, "all.py"], cwd=tmp_path, capture_output=True, text=True, timeout=270, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_search_of_a_program_is_repeated_when_its_module_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result is stored by the code of the function, which does not change."""
    (tmp_path / "searched.py").write_text("def main(comm): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("searched")
    assert not scan(module.main, ()).names
    assert scan(module.main, ()) is scan(module.main, ())
    assert scan(module.main, [threading]).names == {"threading"}  # an argument
    module.lock = threading.Condition()
    assert scan(module.main, ()).names == {"threading"}


@pytest.mark.slow
def test_a_lock_that_was_acquired_before_the_change_is_waited_for_in_the_loop(backend: Any, tmp_path: Path) -> None:
    """Its holder is unknown, and no other OS thread can hold it."""
    (tmp_path / "work.py").write_text(f"""{FIND}
def main(comm):
    if comm.rank == 0:
        kept["lock"], kept["rlock"] = library().Lock(), library().RLock()
        kept["lock"].acquire()
        kept["rlock"].acquire()
        assert not is_changed()
    comm.Barrier()
    if comm.rank == 1:
        library().Thread(target=int).start()
    comm.Barrier()
    assert is_changed()
    if comm.rank == 0:
        fakempi.compute(5)
        kept["lock"].release()
        kept["rlock"].release()
    else:
        kept["lock"].acquire()
        time = fakempi.MPI.Wtime()
        kept["rlock"].acquire()
        return time >= 5
kept = {{}}
assert fakempi.run(main, 2, backend={backend!r}).returns == [None, True]
""")
    done = subprocess.run(
        [sys.executable, "work.py"], cwd=tmp_path, capture_output=True, text=True, timeout=270, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_global_interpreter_lock_threads_of_ranks_are_rejected(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence; runs without threads work."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)

    def main(comm: Any) -> Any:
        assert not hasattr(type(threading.Lock()).acquire, "__module__")  # it is the compiled method
        with pytest.raises(MPI.Exception, match=r"threads of ranks need the global interpreter lock.*set PYTHON_GIL=1"):
            threading.Thread(target=int).start()
        return comm.allreduce(1)

    assert fakempi.run(main, 2, backend=backend).returns == [2, 2]


@pytest.mark.usefixtures("patient")
def test_another_os_thread_changes_no_class_and_no_attribute_of_the_loop(backend: Any) -> None:
    """It only adds a subscriber, which rejects all kinds of calls of that thread."""
    requested, done = threading.Event(), threading.Event()
    calls: list[Any] = []
    refused: list[str] = []

    def other() -> None:
        requested.wait()
        for call in calls:
            try:
                call()
            except MPI.Exception as error:
                refused.append(str(error))
        done.set()

    def main(comm: Any) -> Any:
        loop = comm._process.loop
        window, request = MPI.Win.Allocate(8, comm=comm), comm.irecv(source=0, tag=3)
        calls.extend([
            lambda: comm.send(1, 0), lambda: comm.recv(), lambda: comm.Barrier(), request.wait, request.test,
            lambda: window.Put(bytearray(8), 0), lambda: comm.Iprobe(), lambda: comm.Dup(), lambda: comm.Isend(b"1", 0),
        ])  # fmt: skip
        requested.set()
        done.wait()
        before = comm.Iprobe()
        comm.send("x", 0, tag=3)
        found = request.wait()
        window.Free()
        return type(loop) is Loop, loop.has_layer(Layer.CALLER), before, found

    thread = threading.Thread(target=other)
    thread.start()
    try:
        assert fakempi.run(main, 1, backend=backend).returns == [(True, True, False, "x")]
    finally:
        requested.set()
        thread.join()
    assert len(refused) == len(calls)
    assert all("none of its ranks started this thread" in words for words in refused)


@pytest.mark.sample
@pytest.mark.slow
def test_runs_without_other_os_threads_check_no_callers(backend: Any) -> None:
    """In a process without other threads: the loop has no subscriber and no instance attributes."""
    program = f"""
import fakempi
def main(comm):
    comm.Barrier()
    loop = comm._process.loop
    return loop.subscribers, "check_caller" in vars(loop), "make_resume" in vars(loop)
assert fakempi.run(main, 2, backend={backend!r}).returns == [((), False, False)] * 2
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=270)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_lock_that_was_acquired_before_the_change_wakes_a_waiting_task(kind: str, backend: Any) -> None:
    """`with` keeps the method that releases the lock from before the change; the waiting thread continues nevertheless."""

    def main(comm: Any) -> list[str]:
        lock, done = getattr(importlib.import_module("thread" + "ing"), kind)(), []

        def work() -> None:
            with lock:
                done.append("work")

        with lock:
            thread = importlib.import_module("thread" + "ing").Thread(target=work)
            thread.start()
            comm.barrier()
        thread.join()
        return done

    assert fakempi.run(main, 2, backend=backend).returns == [["work"]] * 2


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("kind", ["RLock", "Condition"])
def test_a_lock_of_all_ranks_that_was_acquired_before_the_change_belongs_to_its_task(kind: str, backend: Any) -> None:
    """A package starts its first thread while it holds the lock; the threads of other ranks wait for the same lock."""
    lock = getattr(threading, kind)()

    def starts(modules: Any) -> None:
        inside: list[str] = []

        def work() -> None:
            with lock:
                inside.append("work")
                if kind == "Condition":
                    lock.notify_all()

        with lock:
            thread = modules["threading"].Thread(target=work)
            thread.start()
            while kind == "Condition" and not inside:
                lock.wait()
            with lock:
                inside.append("main")
            assert inside[-1] == "main"
        thread.join()

    def main(comm: Any) -> int:
        for _ in range(3):
            starts(sys.modules)
        return int(comm.allreduce(1))

    assert fakempi.run(main, 3, backend=backend).returns == [3, 3, 3]


PROGRESS = """
import threading

class Monitor(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.start()

    def run(self):
        self.ended.wait(60)

class Bar:
    lock = threading.RLock()
    monitor = None

    def __init__(self):
        self.lock.acquire()
        if Bar.monitor is None:
            Bar.monitor = Monitor()
        self.lock.release()
"""


def test_a_package_starts_its_first_thread_while_it_holds_a_lock(tmp_path: Path, backend: Any) -> None:
    """As tqdm, of which each rank creates a bar: the rank releases the lock, which it acquired before locks were changed."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "progress.py").write_text(PROGRESS)
    (tmp_path / "work.py").write_text("""
import sys
sys.path.append("site-packages")
import progress
from mpi4py import MPI
progress.Bar()
MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 2:
    progress.Bar.lock.acquire()
    progress.Bar.lock.release()
    try:
        progress.Bar.lock.release()
    except RuntimeError as error:
        print(error)
""")
    command = [sys.executable, "-m", "fakempi", "run", "-q", "-n", "3", "--backend", str(backend), "work.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "cannot release un-acquired lock\n")
