"""The end of ranks: normal, by `sys.exit`, or by an exception; and exit functions."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.apps.cli import main
from fakempi.isolation import Program
from tests.isolation.harness import Capture, play


def test_exit_ends_one_rank_with_its_code(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """The other ranks continue."""
    script = """
    import sys
    if comm.rank == 1:
        sys.exit(7)
    if comm.rank == 2:
        sys.exit("no more")
    if comm.rank == 3:
        exit()
    if comm.rank == 4:
        raise SystemExit(True)
    comm.send("still here", 0)
    print(comm.recv())
    """
    assert play(tmp_path, script, 5, backend).returns == [0, 7, 1, 0, 1]
    assert capsys.readouterr() == ("still here\n", "no more\n")


def test_exit_functions_run_at_the_end_of_their_rank_and_may_send(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """In reverse order, per rank, also after an exit; a failing one does not stop the others."""
    script = """
    import atexit, sys
    def never(): print("never")
    atexit.register(never)
    atexit.unregister(never)
    atexit.register(print, "last words of", comm.rank)
    @atexit.register
    def farewell():
        print(comm.rank, comm.sendrecv(comm.rank, 1 - comm.rank))
    atexit.register(lambda: 1 / 0)
    comm.Barrier()
    sys.exit(3)
    """
    assert play(tmp_path, script, 2, backend).returns == [3, 3]
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["0 1", "1 0", "last words of 0", "last words of 1"]
    assert err.count("ZeroDivisionError") == 2


def test_an_exception_ends_the_run_with_its_full_traceback(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """With file and line of the script; `finally` blocks and exit functions run; other ranks are unwound."""
    script = """
    import atexit, broken
    atexit.register(print, "exit", comm.rank)
    try:
        if comm.rank == 2:
            broken.divide(comm.rank)
        comm.Barrier()
    finally:
        print("finally", comm.rank)
    """
    with pytest.raises(fakempi.RankError) as caught:
        play(tmp_path, script, 3, backend, siblings={"broken.py": "def divide(x):\n    return x / 0"})
    error = caught.value.exception
    assert caught.value.rank == 2
    assert caught.value.others == []
    assert isinstance(error, ZeroDivisionError)
    frames = [(frame.filename, frame.lineno, frame.line) for frame in traceback.extract_tb(error.__traceback__)]
    assert frames[-2:] == [
        (str(tmp_path / "work.py"), 8, "broken.divide(comm.rank)"), (str(tmp_path / "broken.py"), 4, "return x / 0"),
    ]  # fmt: skip
    assert sorted(capsys.readouterr().out.splitlines()) == ["exit 2", "finally 0", "finally 1", "finally 2"]


def test_a_barrier_at_exit_does_not_hide_the_failure_of_a_rank(tmp_path: Path, backend: Any) -> None:
    """The run has ended by then."""
    with pytest.raises(fakempi.RankError, match="rank 1 failed with KeyError: 'x'"):
        play(tmp_path, "import atexit\natexit.register(comm.Barrier)\nif comm.rank: {}['x']", 2, backend)


def test_an_exception_hook_may_abort(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Programs do so on a real MPI, because the other ranks would block."""
    script = """
    import sys
    def hook(kind, error, trace):
        print("hook", comm.rank, error)
        comm.Abort(5)
    sys.excepthook = hook
    if comm.rank == 1:
        raise ValueError("bad")
    comm.Barrier()
    """
    with pytest.raises(fakempi.RankError) as caught:
        play(tmp_path, script, 2, backend)
    assert getattr(caught.value.exception, "errorcode", None) == 5
    assert capsys.readouterr().out == "hook 1 bad\n"


def test_a_deadlock_is_reported_with_lines_of_the_script(tmp_path: Path, backend: Any) -> None:
    """Not with lines of fakempi."""
    with pytest.raises(fakempi.DeadlockError, match=r"rank 0: recv\(source=1, tag=ANY\) at work\.py:4"):
        play(tmp_path, "if comm.rank == 0:\n    comm.recv(source=1)", 2, backend)


def test_a_loop_that_catches_every_exception_ends_after_an_abort(tmp_path: Path, backend: Any) -> None:
    """The next call raises again."""
    script = """
    for _ in range(5):
        try:
            comm.Abort(3) if comm.rank == 1 else comm.Barrier()
        except BaseException:
            pass
    """
    with pytest.raises(fakempi.RankError, match=r"rank 1 failed with Aborted: Abort\(3\) was called"):
        play(tmp_path, script, 2, backend)


def test_a_program_has_the_exit_codes_of_its_ranks(tmp_path: Path, backend: Any) -> None:
    """Also if the run failed."""
    (tmp_path / "work.py").write_text(
        "import sys\nfrom mpi4py import MPI\nif MPI.COMM_WORLD.rank == 0: sys.exit(9)\nMPI.COMM_WORLD.Barrier()\n"
    )
    work = Program([str(tmp_path / "work.py")])
    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(work, 3, backend=backend)
    assert work.codes == {0: 9}


def test_exit_functions_of_packages_run_at_the_end_of_their_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Functions of a package that is private to each rank, and functions that a shared package registers for the script."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "closing.py").write_text(
        "import atexit\nfrom mpi4py import MPI\natexit.register(lambda: print('closed', MPI.COMM_WORLD.allreduce(1)))\n"
    )
    (site / "helping.py").write_text(
        "import atexit, functools\ndef at_end(f): atexit.register(functools.partial(f, 'helped'))\n"
    )
    script = f"""
    import sys
    sys.path.append({str(site)!r})
    import closing, helping
    def say(word): print(word, comm.allreduce(1))
    helping.at_end(say)
    """
    play(tmp_path, script, 2, backend)
    assert sorted(capsys.readouterr().out.splitlines()) == ["closed 2", "closed 2", "helped 2", "helped 2"]


def test_exit_functions_of_calls_to_shared_packages_with_mpi_run_at_the_end_of_their_rank(
    tmp_path: Path, backend: Any, capsys: Capture
) -> None:
    """A shared package that imports mpi4py in a function lets other ranks end when its caller ends, as dask-mpi does."""
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "serving.py").write_text(
        "import atexit\n\ndef say(comm): comm.send('end', 0)\n\ndef serve():\n    from mpi4py import MPI\n"
        "    comm = MPI.COMM_WORLD\n    if comm.rank == 0: print(comm.recv())\n    else: atexit.register(say, comm)\n"
    )
    play(tmp_path, f"import sys; sys.path.append({str(site)!r})\nimport serving\nserving.serve()", 2, backend)
    assert capsys.readouterr().out == "end\n"


def test_other_exit_functions_of_shared_packages_run_at_the_end_of_python(tmp_path: Path, backend: Any) -> None:
    """Functions of a package without mpi4py, and functions that a package registers while it is imported."""
    site = tmp_path / "site-packages"
    site.mkdir()
    later = tmp_path / "at the end of Python"
    at_end = f"import atexit, pathlib\ndef call(): atexit.register(pathlib.Path({str(later)!r}).touch)\n"
    (site / "other.py").write_text(at_end)
    (site / "imported.py").write_text(f"{at_end}def get():\n    import mpi4py\ncall()\n")
    play(tmp_path, f"import sys; sys.path.append({str(site)!r})\nimport other, imported\nother.call()", 2, backend)
    assert not later.exists()


def test_os_exit_ends_the_run_as_mpiexec_does(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """`os._exit` without Finalize ends all ranks; exit functions and `finally` blocks of the rank do not run."""
    script = """
    import atexit, os
    atexit.register(print, "exit", comm.rank)
    try:
        comm.Barrier()
        if comm.rank == 1:
            os._exit(3)
        comm.Barrier()
    except BaseException:
        print("caught", comm.rank)
        raise
    finally:
        print("finally", comm.rank)
    """
    words = r"^rank 1 failed with ExitWithoutFinalize: os._exit\(3\) was called$"
    with pytest.raises(fakempi.RankError, match=words) as caught:
        play(tmp_path, script, 3, backend)
    assert caught.value.rank == 1
    assert traceback.extract_tb(caught.value.exception.__traceback__)[-1].line == "os._exit(3)"
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("exit")]
    assert sorted(printed) == ["caught 0", "caught 2", "finally 0", "finally 2"]


def test_os_exit_after_finalize_ends_one_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """With its code; a forked process of a rank really exits."""
    script = """
    import atexit, os
    atexit.register(print, "exit", comm.rank)
    comm.Barrier()
    if comm.rank == 1:
        MPI.Finalize()
        child = os.fork()
        try:
            os._exit(4 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) + 1)
        finally:
            print("finally")
    comm.Sendrecv(bytes(9), 2 - comm.rank, recvbuf=bytearray(9))
    print("still here", comm.rank)
    """
    done = play(tmp_path, script, 3, backend)
    assert done.returns == [0, 5, 0]
    assert done.clocks[0] == done.clocks[2] > done.clocks[1] > 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["exit 0", "exit 2", "still here 0", "still here 2"]


def test_os_exit_works_at_any_place(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """In a coroutine, in a comparison that a sort calls, and while the run ends."""
    script = """
    import asyncio, functools, os
    async def leave():
        try:
            MPI.Finalize()
            os._exit(comm.rank)
        finally:
            print("finally")
    def compare(x, y):
        MPI.Finalize()
        os._exit(comm.rank)
    comm.Barrier()
    if comm.rank == 0:
        asyncio.run(leave())
    elif comm.rank == 1:
        sorted([2, 1], key=functools.cmp_to_key(compare))
    else:
        async def last():
            return 7
        os._exit(MPI.Finalize() or asyncio.run(last()))
    """
    assert play(tmp_path, script, 3, backend).returns == [0, 1, 7]
    with pytest.raises(fakempi.RankError, match=r"^rank 0 failed with ExitWithoutFinalize: os._exit\(0\) was called"):
        play(tmp_path, "import os\ntry: 1 / comm.rank, comm.Barrier()\nfinally: os._exit(comm.rank)", 2, backend)
    assert capsys.readouterr().out == ""


def test_a_rank_cannot_replace_its_process(tmp_path: Path, capsys: Capture) -> None:
    """That would end all ranks without a message."""
    path = tmp_path / "work.py"
    path.write_text("import os, sys\nos.execl(sys.executable, sys.executable, '-c', 'pass')\n")
    assert main(["run", "-n", "2", str(path)]) == 1
    assert "os.execv on rank 0 would replace the Python process, which all ranks share." in capsys.readouterr().err
