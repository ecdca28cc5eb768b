"""Scripts that spawn scripts, as users of mpi4py write them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from fakempi.isolation import Program
from tests.isolation.harness import COMM, Capture, play

CHILD = """
    import sys, state
    state.seen.append(comm.rank)
    parent = MPI.Comm.Get_parent()
    parent.send((comm.rank, comm.size, sys.argv[1:], state.seen, __name__), 0)
    parent.Disconnect()
    """
SIBLINGS = {"child.py": CHILD, "state.py": "seen = []\n"}


@pytest.mark.quick(3)
@pytest.mark.parametrize("how", ["interpreter", "python3", "script", "module", "bytes", "path"])
def test_a_script_spawns_a_script(tmp_path: Path, backend: Any, capsys: Capture, how: str) -> None:
    """By the interpreter, by the script's name, or as a module; each child has its own modules and arguments."""
    script = """
    import pathlib, sys
    directory = pathlib.Path(__file__).parent
    child = str(directory / "child.py")
    how = sys.argv[1]
    command, args = {
        "interpreter": (sys.executable, [child, "x", "y z"]),
        "python3": ("python3", (child, "x", "y z")),
        "script": (child, ["x", "y z"]),
        "module": (sys.executable, ["-m", "child", "x", "y z"]),
        "bytes": (child.encode(), [b"x", "y z"]),
        "path": (directory / "child.py", ["x", "y z"]),
    }[how]
    codes = []
    children = comm.Spawn(command, args, maxprocs=3, errcodes=codes)
    if comm.rank == 0:
        print(codes, *(children.recv(source=rank) for rank in range(3)), sep="\\n")
    children.Disconnect()
    """
    here = os.getcwd()
    os.chdir(tmp_path)  # `-m child` looks here
    try:
        assert play(tmp_path, script, 2, backend, how, siblings=SIBLINGS).returns == [0, 0]
    finally:
        os.chdir(here)
    found = [(rank, 3, ["x", "y z"], [rank], "__main__") for rank in range(3)]
    assert capsys.readouterr().out.splitlines() == ["[0, 0, 0]", *map(str, found)]


def test_a_function_spawns_a_script_that_spawns_itself(tmp_path: Path, backend: Any) -> None:
    """To the last generation; the result is the number of generations."""
    script = """
    import sys
    left = int(sys.argv[1])
    total = comm.size
    if left:
        children = comm.Spawn(sys.executable, [__file__, str(left - 1)], maxprocs=left)
        total += children.recv(source=0) if comm.rank == 0 else 0
    if comm.rank == 0:
        MPI.Comm.Get_parent().send(total, 0)
    """
    (tmp_path / "again.py").write_text(COMM + "\n".join(line[4:] for line in script.splitlines()), encoding="utf-8")

    def main(comm: Any) -> Any:
        return comm.Spawn(str(tmp_path / "again.py"), ["3"], 2).recv(source=0)

    done = fakempi.run(main, 1, backend=backend)
    assert done.returns == [2 + 3 + 2 + 1]
    assert len(done.clocks) == 9


def test_a_script_that_fails_is_named(tmp_path: Path, backend: Any) -> None:
    """With the place where it was spawned."""
    script = "\nimport sys\ncomm.Spawn(sys.executable, [sys.argv[1]], 2).recv()\n"
    with pytest.raises(fakempi.RankError, match=r"^rank 1 of the group spawned at work.py:5 failed with ValueError: no$"):
        play(
            tmp_path, script, 2, backend, str(tmp_path / "child.py"),
            siblings={"child.py": "if comm.rank == 1: raise ValueError('no')\ncomm.Barrier()\n"},
        )  # fmt: skip


def test_labels_and_exit_codes_of_spawned_scripts(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Child ranks and ranks that spawned them have different labels, and the caller of the run gets all codes."""
    (tmp_path / "child.py").write_text(COMM + "print('here')\nraise SystemExit(4 + comm.rank)\n", encoding="utf-8")
    spawning = COMM + f"comm.Spawn({str(tmp_path / 'child.py')!r}, maxprocs=2)\nprint('there')\n"
    (tmp_path / "work.py").write_text(spawning, encoding="utf-8")
    work = Program([str(tmp_path / "work.py")], label="[{rank}] ")
    assert fakempi.run(work, 1, backend=backend).returns == [0]
    group = "of the group spawned at work.py:3"
    assert capsys.readouterr().out.splitlines() == ["[0] there", f"[0 {group}] here", f"[1 {group}] here"]
    assert work.codes == {0: 0, 1: 4, 2: 5}


def test_a_missing_script(tmp_path: Path) -> None:
    """Every rank that spawns gets the error."""

    def main(comm: Any) -> None:
        words = "Spawn on rank 0: cannot run 'missing.py'. program: no such file: 'missing.py'."
        with pytest.raises(MPI.Exception, match=f"^{re.escape(words)}$") as caught:
            comm.Spawn(sys.executable, ["missing.py"])
        assert caught.value.Get_error_class() == MPI.ERR_SPAWN

    fakempi.run(main, 2)


@pytest.mark.parametrize(("text", "line"), [("x = 1\ndef f(:\n", 2), ("x = 1\0\n", 1)])
def test_a_script_with_a_syntax_error(tmp_path: Path, text: str, line: int) -> None:
    """Every rank that spawns gets the error and its place."""
    child = tmp_path / "child.py"
    child.write_text(text)

    def main(comm: Any) -> None:
        words = rf"^Spawn on rank 0: cannot run '{re.escape(str(child))}'\. .* \(child.py, line {line}\)$"
        with pytest.raises(MPI.Exception, match=words) as caught:
            comm.Spawn(str(child))
        assert caught.value.Get_error_class() == MPI.ERR_SPAWN

    fakempi.run(main, 2)


def test_a_different_working_directory_is_rejected(tmp_path: Path) -> None:
    """All ranks are in one process; the current directory is accepted."""
    (tmp_path / "empty.py").touch()

    def main(comm: Any) -> None:
        script = str(tmp_path / "empty.py")
        comm.Spawn(script, info=MPI.Info.Create({"wdir": os.getcwd(), "host": "a"}))
        words = f"Spawn on rank 0: wdir is {str(tmp_path)!r}, but all ranks share one working directory, {os.getcwd()!r}."
        with pytest.raises(MPI.Exception, match=f"^{re.escape(words)}$"):
            comm.Spawn(script, info=MPI.Info.Create({"wdir": str(tmp_path)}))

    fakempi.run(main, 1)
