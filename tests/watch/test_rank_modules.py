"""Modules that run in the ranks of a watched program: calls with their values, loops without effect, and own files."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from fakempi.apps.watch.rank import calls, motion, stacks

RANK = Path(calls.__file__).parent
OFFSET = 2


class Guarded:
    """An object with a property that must not be called, and a slot."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 30

    @property
    def dangerous(self) -> int:
        """Raise an error."""
        raise AssertionError("the property was called")


@contextmanager
def blocked(function: Callable[[threading.Lock], None]) -> Iterator[FrameType]:
    """The frame of a function that waits for a lock in a thread."""
    lock = threading.Lock()
    lock.acquire()
    thread = threading.Thread(target=function, args=(lock,))
    thread.start()
    try:
        while True:
            frame: FrameType | None = sys._current_frames().get(thread.ident or 0)
            if frame is not None and frame.f_code is function.__code__ and frame.f_locals.get("ready"):
                threading.Event().wait(0.05)
                yield frame
                return
    finally:
        lock.release()
        thread.join()


def described(function: Callable[[threading.Lock], None]) -> dict[str, Any]:
    with blocked(function) as frame:
        found = calls.describe(frame)
    assert found is not None
    return found


def test_a_call_has_the_values_of_its_arguments() -> None:
    """Names, attributes and arithmetic are computed; properties and calls are not."""

    def wait(lock: threading.Lock) -> None:
        rank, box, guarded = 3, SimpleNamespace(step=4), Guarded()
        ready = bool(rank)
        lock.acquire(ready, (rank + 1) % 4 + OFFSET * box.step + guarded.seconds)
        lock.release()

    found = described(wait)
    assert (found["name"], found["function"]) == ("acquire", "lock.acquire")
    assert [each.get("value") for each in found["arguments"]] == [True, 38]


def test_unknown_values_are_not_computed() -> None:
    """A property and a function of the program are not called."""

    def wait(lock: threading.Lock) -> None:
        guarded, several = Guarded(), [30]
        ready = True
        lock.acquire(ready, several[0] if ready else guarded.dangerous)
        lock.release()

    assert "value" not in described(wait)["arguments"][1]
    for text in ("guarded.dangerous", "len(several)", "several[0]", "2 ** 100", "1 // 0", "missing"):
        frame: Any = SimpleNamespace(f_locals={"guarded": Guarded(), "several": [1]}, f_globals={})
        with pytest.raises(calls.UnknownValueError):
            calls.value(ast.parse(text, mode="eval").body, frame)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="instructions have no positions")
def test_the_call_of_several_in_a_line_is_found() -> None:
    """By the position of the instruction."""

    def wait(lock: threading.Lock) -> None:
        ready = threading.Lock()
        pair = ready.acquire(True, 1), lock.acquire(True, 30)
        assert pair
        lock.release()

    assert described(wait)["text"] == "lock.acquire(True, 30)"


def ends(ready: bool) -> None:
    while not ready:
        pass


def counts(limit: int) -> None:
    number = 0
    while number < limit:
        number += 1


def calls_a_function(ready: Callable[[], bool]) -> None:
    while not ready():
        pass


def iterates(numbers: list[int]) -> None:
    for _ in numbers:
        pass


def test_loops_that_change_nothing_are_known() -> None:
    """A loop that assigns, calls or iterates may end."""
    assert motion._effectless_loops(ends.__code__)
    for function in (counts, calls_a_function, iterates):
        assert motion._effectless_loops(function.__code__) == []


def test_files_of_the_program_are_known() -> None:
    """Not those of the standard library and of installed packages."""
    assert stacks.is_own(__file__)
    assert not stacks.is_own(threading.__file__)
    assert not stacks.is_own("/home/me/venv/lib/python3.12/site-packages/numpy/core.py")
    assert not stacks.is_own("<frozen importlib._bootstrap>")


def test_modules_of_ranks_import_the_standard_library_only() -> None:
    """fakempi may be installed for another Python than the program's."""
    names = sorted(path.stem for path in RANK.glob("*.py") if path.stem not in ("__init__", "sitecustomize"))
    program = f"import sys; sys.path.insert(0, {str(RANK)!r}); import {', '.join(names)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & {"fakempi", "numpy", "mpi4py", "rich"} == set()
