"""Ranks are processes: what one does to itself concerns no other, crashes are reports, and none outlives the run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import fakempi
from fakempi.apps.cli import main
from fakempi.errors import Killed
from fakempi.processes.program import ProcessProgram
from tests.processes.harness import observe

HEAD = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nrank = comm.rank\n"


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def started(command: list[str], new_session: bool = False) -> Iterator[subprocess.Popen[str]]:
    """A process that is killed when the test ends, also by a failed assertion, and after 250 seconds at the latest."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=new_session) as process:
        limit = Timer(250, process.kill)  # while a line is awaited
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            limit.join()
            process.kill()


def test_state_of_the_process_belongs_to_one_rank(tmp_path: Path) -> None:
    """Directory, environment, signal handlers, the process number, recursion limit, modules."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD
        + "import os, signal, sys\n"
        + "if rank == 1:\n"
        + "    os.chdir('/'); os.environ['X'] = '1'; signal.signal(signal.SIGUSR1, lambda *_: print('signal on', rank))\n"
        + "    os.kill(os.getpid(), signal.SIGUSR1); sys.setrecursionlimit(5000); sys.modules['extra'] = sys\n"
        + "pids = comm.allgather(os.getpid())\n"
        + "print(rank, os.getcwd() == '/', os.environ.get('X'), len(set(pids)), sys.getrecursionlimit() == 5000,\n"
        + "      'extra' in sys.modules, signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL)\n"
    )
    found = observe([str(script)], 2, True)
    assert sorted(found.out.splitlines()) == [
        "0 False None 2 False False True", "1 True 1 2 True True False", "signal on 1"
    ]


@pytest.mark.parametrize(("line", "number"), [
    ("ctypes.string_at(0)", signal.SIGSEGV), ("os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL)
])
def test_a_crash_is_a_failed_rank(tmp_path: Path, line: str, number: int) -> None:
    """The report names the rank, the signal and the line of its last call."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + f"import ctypes, os, signal\ncomm.Barrier()\nif rank == 1:\n    {line}\ncomm.Barrier()\n")
    with pytest.raises(fakempi.RankError, match=r"rank 1 failed with Killed: its process was killed .*work\.py:5") as caught:
        fakempi.run(ProcessProgram([str(script)]), 3)
    assert isinstance(caught.value.exception, Killed)
    assert caught.value.exception.number == number


def test_rank_0_reads_standard_input(tmp_path: Path) -> None:
    """Other ranks have an empty one; `--processes` and its environment variable; the exit code is that of the ranks."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + "import sys\nprint(rank, repr(sys.stdin.read()))\nsys.exit(2 * rank)\n")
    command = [sys.executable, "-m", "fakempi", "run", "-q", "-n", "2", "--prefix", str(script)]
    environment = {**os.environ, "FAKEMPI_PROCESSES": "1"}
    done = subprocess.run(command, input="text", capture_output=True, text=True, env=environment, timeout=270)
    assert (sorted(done.stdout.splitlines()), done.returncode) == (["[0] 0 'text'", "[1] 1 ''"], 2), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.sample), signal.SIGTERM]
)
def test_no_child_outlives_the_run(tmp_path: Path, number: int) -> None:
    """A child that computes ends when the parent is interrupted, terminated or killed."""
    script = tmp_path / "work.py"
    text = "import os\nprint(os.getpid(), os.getppid(), flush=True)\ncomm.Barrier()\nwhile rank: pass\ncomm.Barrier()\n"
    script.write_text(HEAD + text)
    command = [sys.executable, "-m", "fakempi", "run", "--processes", "-q", "-n", "2", str(script)]
    with started(command) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for _ in range(2) for pid in parent.stdout.readline().split()]  # also of the template
        assert len(set(pids)) == 3
        assert all(map(is_running, pids))
        parent.send_signal(number)
        parent.wait(120)
    end = time.monotonic() + 120
    while any(map(is_running, pids)):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_a_signal_that_does_not_interrupt_the_wait_for_a_child_is_handled(tmp_path: Path) -> None:
    """Such as one that arrives just before the wait; here, another thread receives it."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + "print('begun', flush=True)\nwhile True: pass\n")
    program = (
        "import signal, sys, threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})\n"
        "from fakempi.apps.cli.main import main\n"
        "sys.exit(main())\n"
    )
    command = [sys.executable, "-c", program, "run", "--processes", "-q", "-n", "1", str(script)]
    with started(command) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        time.sleep(0.1)  # usually, the parent waits by then
        parent.send_signal(signal.SIGINT)
        parent.communicate(timeout=120)
    assert parent.returncode == 130


@pytest.mark.sample
@pytest.mark.slow
def test_ctrl_c_prints_the_positions_of_ranks_and_no_traceback(tmp_path: Path) -> None:
    """In a terminal all processes receive the signal: children that wait, and children that compute."""
    script = tmp_path / "work.py"
    for text in ("while True: comm.sendrecv(1, 1 - rank, 0, None, 1 - rank, 0)", "while True: pass"):
        script.write_text(HEAD + "if rank == 0: print('begun', flush=True)\n" + text)
        command = [sys.executable, "-m", "fakempi", "run", "--processes", "-q", "-n", "2", str(script)]
        with started(command, new_session=True) as parent:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "begun\n"
            os.killpg(parent.pid, signal.SIGINT)
            _, said = parent.communicate(timeout=120)
        assert "Traceback" not in said, text
        assert parent.returncode == 130, said
        assert said.startswith("fakempi: interrupted at t = ")


def test_a_signal_to_one_rank_is_raised_after_the_call_in_which_it_arrives(tmp_path: Path) -> None:
    """The message has been received, and further calls work."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD
        + "import os, signal\n"
        + "if rank:\n    os.kill(comm.recv(), signal.SIGINT)\n    comm.send('first', 0)\n    comm.send('second', 0)\n"
        + "else:\n    comm.send(os.getpid(), 1)\n"
        + "    try:\n        got = comm.recv()\n        while True: pass\n"
        + "    except KeyboardInterrupt:\n        print('interrupted', comm.recv())\n"
    )
    found = observe([str(script)], 2, True)
    assert (found.out, found.error) == ("interrupted second\n", ""), found


@pytest.mark.slow
def test_numpy_is_imported_when_the_program_imports_it(tmp_path: Path) -> None:
    """Although the template has imported it; the generators have the seeds of ranks."""
    script = tmp_path / "work.py"
    script.write_text(
        "assert 'numpy' not in __import__('sys').modules\n"
        + HEAD
        + "import sys\n"
        + "import numpy, numpy.linalg\n"
        + "assert sys.modules['numpy'] is numpy and numpy.__spec__.origin == numpy.__file__\n"
        + "print(rank, numpy.linalg.inv(numpy.eye(2) * 2), numpy.random.rand(), numpy.random.default_rng(1).random())\n"
    )
    text = script.read_text()
    found = observe([str(script)], 2, True)
    assert not found.error
    script.write_text(text.partition("\n")[2])  # without the assertion
    assert found.out == observe([str(script)], 2, False).out
    script.write_text(text + "# OMP_NUM_THREADS: numpy is not imported before the program\n")
    assert found.out == observe([str(script)], 2, True).out


def test_a_module_for_an_mpi_library_is_rejected(tmp_path: Path) -> None:
    """Each rank would be alone in its world. A package that `share` names is loaded."""
    import _struct  # any compiled module

    if not getattr(_struct, "__file__", ""):
        pytest.skip("_struct is built in")
    suffix = ".so"
    (tmp_path / f"linked{suffix}").write_bytes(Path(_struct.__file__).read_bytes() + b"MPI_Comm_rank")
    script = tmp_path / "work.py"
    script.write_text(HEAD + "import linked\n")
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(ProcessProgram([str(script)]), 2)
    assert "linked is compiled for an MPI library" in str(caught.value.exception)
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(ProcessProgram([str(script)], share=["linked"]), 2)
    assert "compiled for an MPI library" not in str(caught.value.exception)  # it has another name inside


@pytest.mark.slow
def test_too_few_open_files_are_reported(tmp_path: Path) -> None:
    """The soft limit is raised for the parent only; a hard limit that is too low is an error with the numbers."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n")
    command = "ulimit -S -n 60; [ -z $1 ] || ulimit -H -n $1; $0 -m fakempi run --processes -q -n 3 $2"
    for hard, words in (("", "60\n60\n60\n"), ("70", "3 ranks need")):
        bash = ["bash", "-c", command, sys.executable, hard, str(script)]
        done = subprocess.run(bash, capture_output=True, text=True, timeout=270)
        assert words in done.stdout + done.stderr


def test_addresses_are_refused(tmp_path: Path) -> None:
    """The parent would read its own memory, or crash."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD
        + "import numpy as np\n"
        + "data = np.zeros(4)\n"
        + "window = MPI.Win.Create_dynamic(comm=comm)\n"
        + "try:\n"
        + "    window.Attach(data)\n"
        + "except NotImplementedError as error:\n"
        + "    print(error)\n"
        + "window.Free()\n"
    )
    found = observe([str(script)], 2, True)
    lines = found.out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Attach"] * 2, found


@pytest.mark.sample
@pytest.mark.slow
def test_a_timeout_reports_a_rank_that_waits_outside_mpi(tmp_path: Path) -> None:
    """A rank waits for the other end of a FIFO, which the other rank would open. The report says where it waits and why."""
    script, fifo = tmp_path / "work.py", tmp_path / "fifo"
    os.mkfifo(fifo)
    script.write_text(HEAD + f"comm.Barrier()\nopen({str(fifo)!r}, 'r' if rank == 0 else 'w')\ncomm.Barrier()\n")
    places: list[str] = []
    for timeout in (2, 10, 50):  # until the ranks have started, even on a busy machine
        with pytest.raises(fakempi.RunTimeoutError) as caught:
            fakempi.run(ProcessProgram([str(script)]), 2, timeout=timeout)
        places = caught.value.places
        if len(places) == 3:
            break
    assert re.match(
        r"rank \d has called no MPI function for \d+\.\d s, since the call at .*work\.py:4: its process waits in a system "
        r"call\. Other ranks continue .* by a file, a pipe or a lock, no rank continues\.", places[-1]
    )  # fmt: skip


@pytest.mark.slow
def test_a_timeout_has_no_remark_about_a_rank_in_a_call(tmp_path: Path) -> None:
    """Rank 0 calls MPI in a loop without end, and rank 1 waits in a call."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + "if rank == 0:\n    while True:\n        comm.Iprobe()\ncomm.Recv(bytearray(1), 0)\n")
    places: list[str] = []
    for timeout in (2, 10, 50):  # until the ranks have started, even on a busy machine
        with pytest.raises(fakempi.RunTimeoutError) as caught:
            fakempi.run(ProcessProgram([str(script)]), 2, timeout=timeout)
        places = caught.value.places
        if len(places) == 2 and places[1].startswith("rank 1: Recv("):
            break
    assert len(places) == 2, places
    assert places[1].startswith("rank 1: Recv("), places


@pytest.mark.slow
@pytest.mark.parametrize("ranks", ["in one process", "as processes"])
@pytest.mark.parametrize("wait", ["Pool(1).map(pause, [1])", "join(Process(target=pause, args=(1,)))", "Barrier(2).wait()"])
def test_a_timeout_ends_ranks_that_wait_inside_multiprocessing(wait: str, ranks: str, tmp_path: Path) -> None:
    """Where the last call of MPI was made there, too: before a fork. The command does not have to kill the run."""
    (tmp_path / "work.py").write_text(
        "from multiprocessing import Barrier, Pool, Process\nimport time\nfrom mpi4py import MPI\n"
        "def pause(seconds):\n    time.sleep(1000 * seconds)\n"
        "def join(process):\n    process.start()\n    process.join()\n"
        f"MPI.COMM_WORLD.Barrier()\n{wait}\n"
    )
    options = ["--processes"] if ranks == "as processes" else []
    command = [sys.executable, "-m", "fakempi", "run", "-q", "--timeout", "3", "-n", "1", *options, "work.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 124, done
    assert done.stderr.startswith("fakempi: not done after 3 s"), done.stderr
    assert "killed" not in done.stderr


@pytest.mark.slow
def test_a_thread_that_waits_for_a_connection_does_not_end_with_the_run(tmp_path: Path) -> None:
    """A pool whose threads have ended fails to end. The main thread, which waits outside MPI, is interrupted."""
    (tmp_path / "work.py").write_text(
        "from multiprocessing import Pipe\nfrom threading import Event, Thread\nimport os\nfrom mpi4py import MPI\n"
        "MPI.COMM_WORLD.Barrier()\nif MPI.COMM_WORLD.rank:\n    raise ValueError\nreader, writer = Pipe()\n"
        "def receive():\n    try:\n        reader.recv()\n    finally:\n        os.write(1, b'the thread has ended')\n"
        "Thread(target=receive, daemon=True).start()\nEvent().wait()\n"
    )
    command = [sys.executable, "-m", "fakempi", "run", "-q", "-n", "2", "--processes", "work.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.endswith("ValueError\nfakempi: rank 1 of 2 failed, which ended the run\n"), done.stderr


@pytest.mark.slow
def test_a_function_cannot_be_spawned(tmp_path: Path) -> None:
    """The rank and the function would use one connection to the parent."""
    script = tmp_path / "work.py"
    script.write_text(HEAD + "try:\n    comm.Spawn(print)\nexcept MPI.Exception as error:\n    print(error)\n")
    command = [sys.executable, "-m", "fakempi", "run", "--processes", "-q", "-n", "1", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=270)
    assert "a function cannot be spawned if ranks are processes: spawn a script." in done.stdout, done.stderr


def test_a_breakpoint_on_a_rank_without_input_names_the_option(tmp_path: Path) -> None:
    """The program goes on, unless PYTHONBREAKPOINT selects another function; pdb would end the run, and is ignored, too."""
    lines = "from mpi4py import MPI\nbreakpoint()\nimport pdb; pdb.set_trace()\nprint(MPI.COMM_WORLD.rank)\n"
    lines += "pdb.Pdb().set_trace()\n"
    (tmp_path / "work.py").write_text(lines)
    command = [sys.executable, "-m", "fakempi", "run", "-n", "2", "--processes", str(tmp_path / "work.py")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONBREAKPOINT"}
    sentence = "fakempi: {1} is ignored on rank {0}, a process without a terminal: use --debug {0}\n"
    calls = "breakpoint() at work.py:2", "pdb.set_trace() at work.py:3", "pdb.set_trace() at work.py:5"
    for more, expected in (({}, calls), ({"PYTHONBREAKPOINT": "0"}, calls[1:])):
        options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "env": {**environment, **more}, "timeout": 200}
        done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
        assert done.stdout == "0\n1\n"
        lines_of_ranks = sorted(sentence.format(rank, call) for rank in (0, 1) for call in expected)
        assert sorted(done.stderr.splitlines(keepends=True)) == lines_of_ranks


def test_each_rank_has_its_own_hashes_of_texts_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are the same in each run, and the program does not see the variable that sets them."""
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    script = tmp_path / "hashes.py"
    script.write_text(HEAD + "import os\nprint(sorted(comm.allgather(hash('text'))), os.environ.get('PYTHONHASHSEED'))\n")
    printed = set()
    for seed in ("0", "0", "1"):
        assert main(["run", "-q", "-n", "3", "--hash-seeds", "--seed", seed, str(script)]) == 0
        lines = capfd.readouterr().out.splitlines()
        assert [len(lines), len(set(lines))] == [3, 1], lines
        hashes, variable = lines[0].rsplit(" ", 1)
        assert (len(set(hashes.split(","))), variable) == (3, "None"), lines
        printed.add(hashes)
    assert len(printed) == 2


def test_own_hashes_contradict_a_seed_for_all_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under mpiexec, the variable gives all ranks the same hashes."""
    script = tmp_path / "hashes.py"
    script.touch()
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert main(["run", "-n", "2", "--hash-seeds", str(script)]) == 2
    assert "PYTHONHASHSEED=0 gives all ranks the same hashes; unset it" in capsys.readouterr().err
