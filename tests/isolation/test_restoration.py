"""After a run the interpreter is restored: nothing of a script is left."""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib._bootstrap
import logging
import random
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi.core.hooks import Layer
from fakempi.core.kernel.loop import Loop
from fakempi.isolation import Program, namespace
from tests.isolation.harness import Capture, play


def snapshot() -> list[Any]:
    """Everything that the run of a script changes."""
    threads: list[Any] = [threading.Thread.start, threading.Thread.__init__]
    functions = [random.random, random.seed, np.random.rand, np.random.seed, time.sleep, atexit.register, atexit.unregister]
    loggers = [logging.root, logging.Logger.root, logging.Logger.manager]
    streams = [sys.stdin, sys.stdout, sys.stderr, sys.excepthook, type(sys)]
    lock = importlib._bootstrap._get_module_lock  # type: ignore[attr-defined]
    names = [name for name in sys.modules if name.partition(".")[0] in ("mpi4py", "__main__", "state")]
    ours = {name: sys.modules[name] for name in names}
    return [threads, functions, loggers, streams, list(sys.argv), list(sys.path), list(sys.meta_path), lock, ours]


def test_objects_and_modules_of_a_script_are_freed(tmp_path: Path, backend: Any, capsys: Any) -> None:
    """As soon as its run has ended, not when the next one begins. Both runs have the same numbers."""
    helper = """
    from mpi4py import MPI
    import builtins, weakref
    class Held: pass
    held = Held()
    builtins.REFS.append(weakref.ref(held))
    key, code = MPI.Comm.Create_keyval(lambda *args: held), MPI.Add_error_class()
    """
    script = """
    import asyncio, helper, threading
    async def wait():
        await asyncio.sleep(0)
    asyncio.run(wait())
    comm.Set_attr(helper.key, helper.Held())
    thread = threading.Thread(target=comm.recv, args=(None, comm.rank))
    thread.start()
    comm.send(None, comm.rank)
    thread.join()
    print(helper.key, helper.code, MPI.Comm.Create_keyval(), comm.py2f())
    """
    refs: list[weakref.ref[Any]] = []
    vars(builtins)["REFS"] = refs
    written = []
    try:
        for _ in range(2):
            play(tmp_path, script, 3, backend, siblings={"helper.py": helper})
            written.append(capsys.readouterr().out)
    finally:
        del vars(builtins)["REFS"]
    gc.collect()
    assert len(refs) == 6
    assert [ref() for ref in refs] == [None] * 6
    assert len(written[0].split()) == 12
    assert written[0] == written[1]


def test_state_is_restored(tmp_path: Path, backend: Any) -> None:
    """After a run without errors."""
    script = """
    import logging, state, sys
    logging.basicConfig()
    sys.argv, sys.path = None, [*sys.path, "nowhere"]
    comm.Barrier()
    sys.exit(comm.rank)
    """
    before = snapshot()
    play(tmp_path, script, 3, backend, siblings={"state.py": "x = 1"})
    assert snapshot() == before


@pytest.mark.parametrize("how", ["1 / 0", "comm.recv()", "comm.Abort()"])
def test_state_is_restored_after_a_failure(tmp_path: Path, backend: Any, how: str) -> None:
    """Whichever rank failed, and wherever the other ranks were."""
    script = f"import state\ncomm.Barrier()\nif comm.rank == 1: {how}\ncomm.Barrier()"
    before = snapshot()
    with pytest.raises(fakempi.RunError):
        play(tmp_path, script, 3, backend, siblings={"state.py": ""})
    assert snapshot() == before


def test_ranks_without_a_script_do_not_see_its_state(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """A run may have both: functions that wait meanwhile continue with the interpreter's original state."""
    (tmp_path / "work.py").write_text(
        "import sys\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\nfor _ in range(3):\n"
        "    assert sys.argv[1:] == ['x'] and comm.sendrecv(comm.rank, comm.rank) == comm.rank\n    comm.Barrier()\n"
    )
    script = Program([str(tmp_path / "work.py"), "x"])
    argv, main = sys.argv, sys.modules["__main__"]

    def main_of(comm: Any) -> int:
        if comm.rank % 2:
            return script(comm)
        for _ in range(3):
            assert sys.argv is argv
            assert sys.modules["__main__"] is main
            sys.stdout.write("a")
            comm.Barrier()
        return 0

    before = snapshot()
    assert fakempi.run(main_of, 4, backend=backend).returns == [0] * 4
    assert capsys.readouterr().out == "aaaaaa"
    assert snapshot() == before


def test_modules_that_the_caller_has_imported_are_imported_again(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The modules of a script are private, even if the caller imported them from the same directory."""
    (tmp_path / "state.py").write_text("x = []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    state = __import__("state")
    try:
        play(tmp_path, "import state\nstate.x.append(1)\ncomm.Barrier()\nassert len(state.x) == 1", 2, backend)
        assert state.x == []
        assert sys.modules["state"] is state
    finally:
        del sys.modules["state"]


def test_a_run_without_a_script_is_unchanged() -> None:
    """No step is added to its switches."""

    def main(comm: Any) -> bool:
        comm.Barrier()
        loop: Loop = comm._process.loop
        return loop.has_layer(Layer.ISOLATION)

    assert fakempi.run(main, 2).returns == [False, False]


@pytest.mark.parametrize("step", ["patch", "patch_exit", "_pop_modules"])
def test_state_is_restored_if_restoring_is_interrupted(
    tmp_path: Path, backend: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C arrives at any point."""

    def interrupt(*arguments: Any) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    before = snapshot()
    monkeypatch.setattr(namespace, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, "comm.Barrier()", 3, backend)
    assert snapshot() == before
    assert play(tmp_path, "comm.Barrier()", 3, backend).returns == [0, 0, 0]
