"""Each rank has its own working directory and environment variables, as a process has."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.harness import Capture, play


def test_a_rank_that_changes_its_directory_does_not_affect_others(tmp_path: Path, backend: Any) -> None:
    """By chdir, fchdir and contextlib; while other ranks stay, and while it waits; child processes start there."""
    script = """
    import os, subprocess, sys
    start = os.getcwd()
    if comm.rank:
        os.makedirs(f"dir{comm.rank}", exist_ok=True)
        os.chdir(f"dir{comm.rank}")
    comm.Barrier()
    mine = start if comm.rank == 0 else os.path.join(start, f"dir{comm.rank}")
    assert os.getcwd() == mine
    with open("out.txt", "w") as file:
        file.write(str(comm.rank))
    comm.Barrier()
    with open("out.txt") as file:
        assert file.read() == str(comm.rank)
    if comm.rank == 1:
        parent = os.open("..", os.O_RDONLY)
        os.fchdir(parent)
        os.close(parent)
    comm.Barrier()
    assert os.getcwd() == (start if comm.rank < 2 else mine)
    if comm.rank == 2:
        assert subprocess.run([sys.executable, "-c", "import os; print(os.getcwd())"], capture_output=True, text=True,
                              check=True, timeout=270).stdout.strip() == mine
    """
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for ranks in (1, 4):
            play(tmp_path, script, ranks, backend)
            assert os.getcwd() == str(tmp_path.resolve())
    finally:
        os.chdir(before)


def test_a_spawned_function_does_not_affect_scripts(tmp_path: Path, backend: Any) -> None:
    """Not by chdir and not by environment variables; the process has its old ones when the run ends."""
    script = """
    import os
    start = os.getcwd()

    def work(world, below):
        parent = MPI.Comm.Get_parent()
        os.chdir(below)
        os.environ["SPAWNED"] = "1"
        parent.Barrier()
        parent.Barrier()
        assert (os.getcwd(), os.environ["SPAWNED"]) == (below, "1")

    below = os.path.join(start, "below")
    os.makedirs(below, exist_ok=True)
    children = MPI.COMM_SELF.Spawn(work, [below])
    children.Barrier()
    assert os.getcwd() == start and "SPAWNED" not in os.environ
    if comm.rank:
        os.chdir("/")
        os.chdir(os.path.join(start, "below"))
        os.environ["SPAWNED"] = "2"
    comm.Barrier()
    assert os.getcwd() == (below if comm.rank else start) and os.environ.get("SPAWNED") == (str(2) if comm.rank else None)
    children.Barrier()
    """
    before, files = os.getcwd(), len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    os.chdir(tmp_path)
    try:
        for ranks in (1, 2):
            play(tmp_path, script, ranks, backend)
            assert os.getcwd() == str(tmp_path.resolve())
            assert "SPAWNED" not in os.environ
        assert not files or len(os.listdir("/proc/self/fd")) <= files
    finally:
        os.chdir(before)


def test_a_rank_may_stay_in_a_deleted_directory(tmp_path: Path, backend: Any) -> None:
    """Other ranks keep their directories, and the process has its old one when the run ends by an exception."""
    script = """
    import os, tempfile
    if comm.rank == 0:
        directory = tempfile.mkdtemp()
        os.chdir(directory)
        os.rmdir(directory)
    else:
        os.chdir("/")
    comm.Barrier()
    assert comm.rank == 0 or os.getcwd() == "/"
    comm.Barrier()
    raise KeyError("end")
    """
    before, files = os.getcwd(), len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(Exception, match="rank 0 failed"):
        play(tmp_path, script, 3, backend)
    assert os.getcwd() == before
    assert not files or len(os.listdir("/proc/self/fd")) <= files


def test_a_failing_chdir_changes_nothing(tmp_path: Path, backend: Any) -> None:
    """The exception is Python's."""
    script = """
    import os
    before = os.getcwd()
    try:
        os.chdir("no such directory")
    except FileNotFoundError:
        pass
    comm.Barrier()
    assert os.getcwd() == before
    """
    play(tmp_path, script, 2, backend)


def test_environment_variables_are_private_to_a_rank(tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set, changed, deleted and read again after other ranks ran, also by child processes; restored at the end."""
    monkeypatch.setenv("FAKEMPI_TEST_OLD", "old")
    script = """
    import os, subprocess, sys
    os.environ["FAKEMPI_TEST_NEW"] = str(comm.rank)
    if comm.rank == 1:
        del os.environ["FAKEMPI_TEST_OLD"]
    if comm.rank == 2:
        os.environ.update(FAKEMPI_TEST_OLD="mine")
    comm.Barrier()
    assert os.environ["FAKEMPI_TEST_NEW"] == str(comm.rank)
    assert os.environ.get("FAKEMPI_TEST_OLD") == ["old", None, "mine"][comm.rank]
    code = "import os; print(os.environ['FAKEMPI_TEST_NEW'], os.environ.get('FAKEMPI_TEST_OLD'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=270)
    printed = done.stdout.split()
    assert printed == [str(comm.rank), ["old", "None", "mine"][comm.rank]]
    """
    play(tmp_path, script, 3, backend)
    assert "FAKEMPI_TEST_NEW" not in os.environ
    assert os.environ["FAKEMPI_TEST_OLD"] == "old"


def test_random_changes_are_visible_to_their_rank_only(tmp_path: Path, backend: Any) -> None:
    """Ranks change directory and variables at random and compare them with their own records."""
    script = """
    import os, random, sys
    draw, start = random.Random(f"{sys.argv[1]} {comm.rank}"), os.getcwd()
    at, variables = start, {}
    directories = [start, "/", os.path.dirname(start), "/usr"]
    for step in range(30):
        kind = draw.randrange(5)
        if kind == 0:
            at = draw.choice(directories)
            os.chdir(at)
        elif kind == 1:
            name = f"FAKEMPI_TEST_{draw.randrange(3)}"
            variables[name] = os.environ[name] = str(draw.randrange(3))
        elif kind == 2:
            name = f"FAKEMPI_TEST_{draw.randrange(3)}"
            variables.pop(name, None)
            os.environ.pop(name, None)
        elif kind == 3:
            comm.Iprobe()
        assert os.getcwd() == at
        assert {name: value for name, value in os.environ.items() if name.startswith("FAKEMPI_TEST_")} == variables
    """
    seed = random.Random(1)
    for _ in range(4):
        play(tmp_path, script, seed.randrange(2, 5), backend, str(seed.random()))


def test_nothing_is_exchanged_until_a_rank_changes_something(tmp_path: Path) -> None:
    """The fast path of switching is used."""
    script = """
    from fakempi.isolation.namespace import NAMESPACES
    comm.Barrier()
    comm.Barrier()
    others = [state for state in NAMESPACES.states.values() if state is not NAMESPACES.current]
    assert all(state.main is not None and state.directory is None for state in others)
    """
    play(tmp_path, script, 3)


@pytest.mark.parametrize(("ranks", "stream", "name"), [(3, 1, "standard output"), (2, 2, "standard error"), (1, 1, "")])
def test_a_redirected_stream_is_reported(ranks: int, stream: int, name: str, tmp_path: Path, capsys: Capture) -> None:
    """Once, with the line and the option that helps, if there are other ranks; other descriptors are not reported."""
    script = f"""
    import os
    number = comm.rank
    if number == comm.size - 1:
        target, saved = os.open(os.devnull, os.O_WRONLY), os.dup({stream})
        os.dup2(target, saved)
        os.dup2({stream}, {stream})
        saved = os.dup({stream})
        os.dup2(target, {stream})
        os.dup2(saved, {stream})
    """
    play(tmp_path, script, ranks)
    reports = capsys.readouterr().err.splitlines()
    expected = [
        f"fakempi: rank {ranks - 1} redirects {name} by os.dup2 (work.py:11) for all ranks, which share it, until it is "
        "restored. fakempi run --processes gives each rank a process."
    ]
    assert reports == (expected if ranks > 1 else [])
