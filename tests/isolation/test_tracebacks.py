"""Tracebacks that a script prints, or that are printed for it, have only lines of the script and of its modules."""

from __future__ import annotations

import re
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from fakempi.errors import RankError
from tests.isolation.harness import Capture, play

FAILURES = """
    import logging, threading, traceback
    me = MPI.COMM_SELF
    class Unpicklable:
        def __reduce__(self): raise ValueError("cannot be pickled")
    class NoIndex:
        def __index__(self): return 1 / 0
    class Finalized:
        def __del__(self): me.send(1, dest=7)
    def divide(*arguments): return 1 / 0
    def chain():
        try:
            me.send(1, dest=7)
        except MPI.Exception as error:
            raise KeyError("chained") from error
    def copied():
        comm = me.Dup()
        comm.Set_attr(MPI.Comm.Create_keyval(copy_fn=divide), 1)
        comm.Dup()
    def waited():
        request = MPI.Grequest.Start(divide, None, None)
        request.Complete()
        request.Wait()
    def handled():
        comm = me.Dup()
        comm.Set_errhandler(MPI.Comm.Create_errhandler(divide))
        comm.send(1, dest=7)
    def deep(n): return me.allreduce(1, op=lambda a, b: 1) + deep(n + 1)
    def child():
        request = me.Iallreduce([bytearray(8), MPI.INT64_T], [bytearray(8), MPI.INT64_T], MPI.Op.Create(divide))
        request.Wait()
    for failing in (
        lambda: me.send(1, dest="x"), lambda: me.Send([1, 2, 3], dest=0), lambda: me.send(Unpicklable(), dest=0),
        lambda: me.send(lambda: 1, dest=0), lambda: me.Recv(bytearray(1), source=0, tag=1.5), chain, copied, waited, handled,
        child, lambda: deep(0), lambda: MPI.Op.Create(divide)(1, 2), lambda: MPI.COMM_WORD, lambda: me.get_rank(),
        lambda: __import__("broken"), lambda: me.scatter(3), lambda: comm.reduce(1, op=sum),
        lambda: MPI.File.Open(me, "/no/such/directory/file"), lambda: me.send(1, dest=NoIndex()),
        lambda: me.Sendrecv(bytes(1), 0, recvbuf=bytearray(1), source=0, status=5),
    ):
        try:
            failing()
        except Exception:
            traceback.print_exc()
            logging.exception("logged")
            print(traceback.format_exc())
            sys.excepthook(*sys.exc_info())
    owner = Finalized()
    del owner
    thread = threading.Thread(target=me.send, args=(1, "x"))
    thread.start()
    thread.join()
    traceback.print_stack()
    if sys.version_info >= (3, 11):
        try:
            me.send(1, dest=7)
        except MPI.Exception as error:
            traceback.print_exception(ExceptionGroup("two", [error, ValueError()]))
"""


@pytest.fixture(autouse=True)
def _python_prints_exceptions_of_threads_and_finalizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not pytest."""
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)


HOOK = """
    def hook(kind, error, trace):
        sys.__excepthook__(kind, error, trace)
        import traceback
        traceback.print_exception(kind, error, trace)
    sys.excepthook = hook
    MPI.COMM_SELF.send(1, dest=7)
"""


def files(text: str) -> set[str]:
    """Names of the files in a text of tracebacks; the standard library's without their directories."""
    return {re.sub(r".*/lib/python[\d.]+/", "lib/", name) for name in re.findall(r'File "(.*?)"', text)}


def test_exceptions_that_a_script_prints_have_only_its_lines(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Of calls with wrong arguments, of functions that calls call, of threads, and of causes and groups."""
    play(tmp_path, "    import sys\n" + FAILURES, 2, backend, siblings={"broken.py": "MPI.COMM_SELF.send(1, dest=7)\n"})
    out, err = capsys.readouterr()
    for text in (out, err):
        assert "fakempi/" not in text.replace(str(tmp_path), "")
        assert "collectives/" not in text
    ours = {str(tmp_path / "work.py"), str(tmp_path / "broken.py")}
    assert files(out) == ours
    assert files(err) - {"lib/threading.py"} == ours
    assert f'File "{tmp_path / "work.py"}"' in err.partition("Exception in thread")[2]


def test_the_context_of_an_error_is_what_the_program_handled(tmp_path: Path, capsys: Capture) -> None:
    """Not what fakempi handled before it raised the error."""
    script = """
    import traceback
    for failing in (lambda: comm.send(1, dest=7), lambda: MPI.File.Open(comm, "/no/such/directory/file")):
        try:
            1 / 0
        except ZeroDivisionError:
            try:
                failing()
            except MPI.Exception:
                print(traceback.format_exc())
    """
    play(tmp_path, script, 1)
    out = capsys.readouterr().out
    assert out.count("ZeroDivisionError") == out.count("During handling of the above exception") == 2


def test_an_uncaught_exception_has_only_lines_of_the_script(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """In `sys.excepthook` of the script, which may call that of Python, and in the exception of the run."""
    with pytest.raises(RankError) as caught:
        play(tmp_path, "    import sys\n" + HOOK, 1, backend)
    assert files(capsys.readouterr().err) == {str(tmp_path / "work.py")}
    trace = caught.value.exception.__traceback__
    assert trace is not None
    assert (trace.tb_frame.f_code.co_filename, trace.tb_next) == (str(tmp_path / "work.py"), None)


def test_all_frames_can_be_shown(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a variable of the environment: `fakempi run --full-traceback` sets it."""
    monkeypatch.setenv("FAKEMPI_FULL_TRACEBACK", "1")
    play(tmp_path, "    import sys\n" + FAILURES, 2, siblings={"broken.py": "1 / 0\n"})
    out, err = capsys.readouterr()
    assert "fakempi" in out
    assert "fakempi" in err


def test_the_module_traceback_is_restored(tmp_path: Path) -> None:
    """After the run, it shows all frames again."""
    before = traceback.walk_tb, traceback.walk_stack, vars(traceback).get("_walk_tb_with_full_positions")
    play(tmp_path, "    print(1)\n", 1)
    assert before == (traceback.walk_tb, traceback.walk_stack, vars(traceback).get("_walk_tb_with_full_positions"))
