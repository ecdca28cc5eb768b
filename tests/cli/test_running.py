"""`fakempi run`: exit codes, output of failing scripts, and usage errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from fakempi.apps.cli import main
from fakempi.trace.record import load

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
BEGINNING = "import sys\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
Capture = pytest.CaptureFixture[str]


def execute(script: str, *options: str, ranks: int = 4) -> int:
    """Run a text as a script."""
    return main(["run", "-n", str(ranks), *options, "-c", BEGINNING + script])


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    words = [sys.executable, "-m", "fakempi", *arguments]
    return subprocess.run(words, env=ENVIRONMENT, text=True, capture_output=True, timeout=270, check=False, **options)


def test_a_script_is_run_with_its_arguments(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Unchanged, even if they look like options of fakempi."""
    path = str(tmp_path / "work.py")
    Path(path).write_text(BEGINNING + "print(comm.rank, *sys.argv[1:])\n")
    for words in ([path], ["python", path], ["--", path]):
        assert main(["run", "-np", "2", "--backend", backend, *words, "-n", "7", "--prefix"]) == 0
        assert capsys.readouterr() == ("0 -n 7 --prefix\n1 -n 7 --prefix\n", "")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("pass", 0),
        ("sys.exit([0, 1, 2, 4][comm.rank])", 7),  # as MPICH's mpiexec combines them
        ("sys.exit(comm.rank == 2)", 1),
        ("sys.exit(256)", 0),
        ("comm.rank == 1 and comm.Abort(9)", 9),
        ("import os\ncomm.rank == 1 and os._exit(3)", 3),
        ("import os\ncomm.rank == 1 and os._exit(0)", 9),  # as with MPICH's mpiexec, which kills the other ranks
        ("import os\nMPI.Finalize()\ncomm.rank == 1 and os._exit(4)", 4),
        ("comm.recv()", 1),
        ("1 / 0", 1),
        ("sys.exit('sorry')", 1),
    ],
)
def test_the_exit_code_is_that_of_mpiexec(script: str, code: int) -> None:
    """Zero if all ranks succeed."""
    assert execute(script) == code


def test_a_failing_rank_shows_its_traceback_without_frames_of_fakempi(tmp_path: Path, capsys: Capture) -> None:
    """In Python's format."""
    path = tmp_path / "work.py"
    path.write_text(BEGINNING + "def f():\n    return comm.rank % 2 and 1 / 0\nf()\ncomm.Barrier()\n")
    assert main(["run", "-n", "4", str(path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines if "File" in line] == [
        f'File "{path}", line 6, in <module>', f'File "{path}", line 5, in f',
    ]  # fmt: skip
    assert lines[-2:] == ["ZeroDivisionError: division by zero", "fakempi: rank 1 of 4 failed, which ended the run"]


def test_a_wrong_call_is_shown_at_the_line_of_the_script(capsys: Capture) -> None:
    """Not at the line in fakempi that detected it."""
    assert execute("comm.send(1, dest=9)") == 1
    assert capsys.readouterr().err.splitlines() == [
        "Traceback (most recent call last):",
        '  File "<string>", line 4, in <module>',
        "fakempi.errors.MPIError: send on rank 0: dest 9 is not in 0..3: the communicator has 4 ranks.",
        "fakempi: rank 0 of 4 failed, which ended the run (for details, run: fakempi explain invalid-rank)",
    ]


def test_a_chained_exception_shows_no_frame_of_fakempi(capsys: Capture) -> None:
    """A script that catches the exception of a call, and raises another one."""
    script = "try:\n    comm.send(1, dest=9)\nexcept MPI.Exception as error:\n    raise ValueError('so') from error\n"
    assert execute(script) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines if "File" in line] == [
        'File "<string>", line 5, in <module>', 'File "<string>", line 7, in <module>',
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["nowhere", "nowhere.at_all"])
def test_a_missing_module_is_reported_without_a_traceback(name: str, capsys: Capture) -> None:
    """The traceback would have frames of the emulator only."""
    assert main(["run", "-n", "2", "-m", name]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"ModuleNotFoundError: No module named {name!r} that can be executed with -m",
        "fakempi: rank 0 of 2 failed, which ended the run",
    ]


def test_a_package_with_a_missing_dependency_shows_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Although it is imported only to find the module in it."""
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "__init__.py").write_text("import nowhere_at_all\n")
    (tmp_path / "lacking" / "work.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-n", "2", "-m", "lacking.work"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines if "File" in line] == [
        f'File "{tmp_path}/lacking/__init__.py", line 1, in <module>'
    ]


def test_a_deadlock_is_reported_with_the_ranks_that_ended_early(capsys: Capture) -> None:
    """These are often the reason."""
    assert execute("comm.rank == 2 and sys.exit(5)\ncomm.Barrier()") == 1
    error = capsys.readouterr().err
    assert error.startswith("deadlock at t = ")
    assert "ranks 0-1 and 3: Barrier(waits for rank 2) at <string>:5" in error
    assert error.endswith("  rank 2 ended with exit code 5\n  for details, run: fakempi explain deadlock\n")


def test_abort_names_the_rank(capsys: Capture) -> None:
    """In one line."""
    assert execute("comm.rank == 3 and comm.Abort(2)\ncomm.Barrier()") == 2
    assert capsys.readouterr().err == "fakempi: rank 3 called Abort(2)\n"


def test_a_spawned_process_is_named_by_its_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Not by its number in the run, which users never see."""
    child = tmp_path / "child.py"
    child.write_text(BEGINNING + "if comm.rank == 1:\n    comm.Abort(5) if sys.argv[1:] else 1 / 0\n")
    spawning = f"between = comm.Spawn(sys.executable, [{str(child)!r}, *sys.argv[1:]], 2)\nbetween.Disconnect()\n"
    path = tmp_path / "farm.py"
    path.write_text(BEGINNING + spawning)
    who = "rank 1 of the group spawned at farm.py:4"
    assert main(["run", "-n", "4", "--backend", backend, str(path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"fakempi: {who} failed, which ended the run"
    assert main(["run", "-n", "4", "--backend", backend, str(path), "abort"]) == 5
    assert capsys.readouterr().err == f"fakempi: {who} called Abort(5)\n"
    child.write_text(BEGINNING + "MPI.Comm.Get_parent().Disconnect()\n")
    assert main(["run", "-n", "4", "--backend", backend, "--summary", str(path)]) == 0
    assert capsys.readouterr().err == "fakempi: 4 ranks and 2 spawned, 0 s, 0 messages, 0 B\n"


def test_a_syntax_error_is_shown_once(tmp_path: Path, capsys: Capture) -> None:
    """Before any rank starts."""
    (tmp_path / "work.py").write_text("def f(:\n")
    assert main(["run", "-n", "4", str(tmp_path / "work.py")]) == 1
    error = capsys.readouterr().err
    assert error.count("SyntaxError") == 1
    assert 'work.py", line 1' in error


def test_a_cost_model_can_be_chosen(capsys: Capture) -> None:
    """The summary has the modeled time."""
    script = "comm.Sendrecv(b'1234', (comm.rank + 1) % 4, recvbuf=bytearray(4))"
    assert execute(script, "--summary", "--cost", "hockney:t_s=1,t_w=0.5") == 0
    assert capsys.readouterr() == ("", "fakempi: 4 ranks, 3 s, 4 messages, 16 B\n")


def test_the_summary_counts_fused_calls(capsys: Capture) -> None:
    """By operation, with the reasons of emulated calls."""
    assert execute("comm.Barrier()\ncomm.reduce(1)", "--summary", "--cost", "zero_cost") == 0
    first, *calls = capsys.readouterr().err.splitlines()
    assert first.startswith("fakempi: 4 ranks, 0 s, ")
    assert calls == ["  barrier: 1 fused", "  reduce: 0 fused, 1 emulated (it combines objects)"]


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_trace_file_is_written(tmp_path: Path, suffix: str) -> None:
    """With the lines of the script."""
    path = tmp_path / f"t.{suffix}"
    assert execute("comm.send(1, (comm.rank + 1) % 4)\ncomm.recv()", "--trace", str(path)) == 0
    trace = load(path)
    assert (trace.ranks, len(trace.transfers)) == (4, 4)
    assert "send at <string>:4" in {str(call) for call in trace.calls}


@pytest.mark.parametrize("end", ["comm.recv()", "1 / 0", "comm.Abort(3)"])
def test_a_trace_file_is_written_for_a_failing_run(tmp_path: Path, end: str) -> None:
    """Up to the time of the failure."""
    path = tmp_path / "t.npz"
    assert execute(f"comm.Sendrecv(b'1234', (comm.rank + 1) % 4, recvbuf=bytearray(4))\n{end}", "--trace", str(path)) != 0
    assert len(load(path).transfers) == 4


def test_unsafe_sends_deadlock_without_buffering(capsys: Capture) -> None:
    """The same program under two models."""
    script = "comm.send(1, (comm.rank + 1) % 4)\ncomm.recv()"
    assert execute(script) == 0
    assert execute(script, "--cost", "hockney:eager_limit=0") == 1
    assert "cycle: 0 → 1 → 2 → 3 → 0" in capsys.readouterr().err


def test_algorithms_can_be_chosen(capsys: Capture) -> None:
    """An algorithm that does not fit is rejected."""
    script = "comm.allreduce(1)\nimport numpy as np\ncomm.Allgather(np.zeros(1), np.zeros(comm.size))"
    assert execute(script, "--algorithms", "mpich,allgather=ring", ranks=6) == 0
    assert execute(script, "--algorithms", "allgather=recursive_doubling", ranks=6) == 1
    assert "p = 6 is not a power of two" in capsys.readouterr().err


def test_a_seed_gives_another_reproducible_order(capsys: Capture) -> None:
    """Of ranks with equal clocks."""
    outputs = []
    for seed in (("--seed", "1"), ("--seed", "1"), ("--seed", "2"), ()):
        assert execute("print(comm.rank, end=' ')", *seed, ranks=6) == 0
        outputs.append(capsys.readouterr().out.split())
    assert outputs[0] == outputs[1]
    assert outputs[3] == list("012345")
    assert len({tuple(order) for order in outputs}) == 3


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["-n", "4"], "the script is missing: use fakempi run -n 4 script.py, or -m module."),
        (["-n", "4", "nowhere.py"], "there is no file 'nowhere.py'."),
        (["-n", "4", "no_such_module", "-q"], "there is no file 'no_such_module'. Use -m no_such_module to run a module."),
        (["-n", "0", "-c", "1"], "-n 0: there must be at least 1 rank."),
        (["-n", "x", "-c", "1"], "'x' is not a number of ranks: use 4 or 1k."),
        (["-n", "4", "--trace", "t.txt", "-c", "1"], "--trace t.txt: the file's name must end in .json, .npz or .html."),
        (["-n", "4", "--trace", "no/t.npz", "-c", "1"], "--trace no/t.npz: there is no directory 'no'."),
        (["-n", "4", "-m"], "program: -m must be followed by a module name."),
        (["-n", "4", "--algorithms", "mpic", "-c", "1"], "algorithms: there is no table 'mpic'; there are plain, mpich "),
    ],
)
def test_usage_errors_are_reported_in_one_line(words: list[str], error: str, capsys: Capture) -> None:
    """The exit code is 2."""
    assert main(["run", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi run: {error}")


def test_help_has_examples_and_fits_80_columns(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every command."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    commands = re.findall(r"^    (\w+)\b", text, re.MULTILINE)
    assert len(commands) == 18
    for words in [[], *([name] for name in commands)]:
        assert main([*words, "--help"]) == 0
        text = capsys.readouterr().out
        assert max(len(line) for line in text.splitlines()) <= 80
        assert not words or "examples:" in text


@pytest.mark.sample
@pytest.mark.slow
def test_ctrl_c_ends_a_run_and_reports_where_ranks_are(tmp_path: Path, backend: Any) -> None:
    """One rank computes endlessly, others wait for it. A signal that a rank sends by `os.kill` is for it alone."""
    press = "import ctypes, os\n    ctypes.CDLL(None).kill(os.getpid(), 2)"
    script = f"if comm.rank < 3: comm.recv(source=3)\nif comm.rank == 3:\n    {press}\n    while True: pass\n"
    (tmp_path / "work.py").write_text(BEGINNING + script)
    found = command("run", "-n", "6", "--backend", backend, str(tmp_path / "work.py"))
    assert found.returncode == 130
    lines = found.stderr.splitlines()
    assert lines[0] == "fakempi: interrupted at t = 0 s, 0 of 6 ranks have ended"
    assert lines[1] in ("  rank 3: runs at work.py:7", "  rank 3: runs at work.py:8")
    assert lines[2:] == ["  ranks 0-2: recv(source=3, tag=ANY) at work.py:4, since t = 0", "  ranks 4-5: not started"]


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Code of a script that expires the time limit from here on, and not before, however slow the machine is."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "late"  # not relative: a rank of another test that never ends may create a file in this directory

    def clock() -> float:
        return 1000 + monotonic() if file.exists() else 0.0

    monkeypatch.setattr("fakempi.extensions.monitoring.monitor.monotonic", clock)
    monkeypatch.setattr("fakempi.apps.cli.interrupts.GRACE_PERIOD", 500)
    return f"open({str(file)!r}, 'w').close()\n"


def test_a_timeout_ends_a_run(late: str, backend: Any, capsys: Capture) -> None:
    """Also if a rank computes endlessly."""
    Path("work.py").write_text(f"{late}while True: pass\n")
    assert main(["run", "-n", "6", "--timeout", "0.1", "--backend", backend, "work.py"]) == 124
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fakempi: not done after 0.1 s, at t = 0 s: 0 of 6 ranks have ended."
    assert lines[1] in ("  rank 0: runs at work.py:1", "  rank 0: runs at work.py:2")
    assert lines[2:] == ["  ranks 1-5: not started", "  for details, run: fakempi explain time-limit"]


def test_a_timeout_keeps_the_trace_up_to_that_time(late: str, capsys: Capture) -> None:
    """The state of this process is restored."""
    Path("work.py").write_text(f"{BEGINNING}comm.barrier()\n{late}while True: comm.barrier()\n")
    streams = sys.stdout, sys.stderr, sys.argv
    assert main(["run", "-n", "2", "--timeout", "0.1", "--trace", "t.npz", "work.py"]) == 124
    assert (sys.stdout, sys.stderr, sys.argv) == streams
    assert "fakempi: not done after 0.1 s, at t = " in capsys.readouterr().err
    assert len(load("t.npz").transfers) >= 2


def test_a_custom_cost_model_is_loaded_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """In `run` and in `compare`; errors are reported in a sentence."""
    monkeypatch.chdir(tmp_path)
    Path("work.py").write_text(BEGINNING + "comm.barrier()\nif comm.rank == 0: print(MPI.Wtime())\n")
    Path("flat.py").write_text(
        "import fakempi\nclass Flat(fakempi.CostModel):\n    def __init__(self, each=1):\n        self.each = each\n"
        "    def transfer(self, source, dest, nbytes):\n        return (self.each / (self.each - 3),) * 3\n"
    )
    assert main(["run", "-n", "2", "--cost", "./flat.py:Flat(each=4)", "work.py"]) == 0
    assert capsys.readouterr().out == "4.0\n"
    assert main(["compare", "bcast", "-n", "2", "--algorithms", "binomial", "--cost", "./flat.py:Flat(4)", "--no-plot"]) == 0
    assert "4 s •*" in capsys.readouterr().out
    for each, words in (("3", "raised ZeroDivisionError at flat.py:6: "), ("2", "at flat.py:5 returned -2.0 seconds")):
        assert main(["run", "-n", "2", "--cost", f"./flat.py:Flat(each={each})", "work.py"]) == 2
        said = capsys.readouterr().err
        assert said.startswith("fakempi run: cost model Flat: transfer(0, 1, 0) ")
        assert words in said


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """As in `fakempi run ... | head -1`."""
    (tmp_path / "work.py").write_text("for line in range(100_000): print('line', line)\n")
    words = [sys.executable, "-m", "fakempi", "run", "-n", "2", str(tmp_path / "work.py")]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        try:
            assert run.stdout is not None
            assert run.stdout.readline() == b"line 0\n"
            run.stdout.close()
            assert run.communicate(timeout=270)[1] == b""
        finally:
            run.kill()
    assert run.returncode == 141


def test_standard_input_and_a_module_by_name_in_a_separate_process(tmp_path: Path) -> None:
    """The complete path from the shell."""
    script = "word = comm.bcast(input() if comm.rank == 0 else None)\nprint(comm.rank, word)\n"
    (tmp_path / "work.py").write_text(BEGINNING + script)
    found = command("run", "-n", "2", "--prefix", "-m", "work", input="hello\n", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert sorted(found.stdout.splitlines()) == ["[0] 0 hello", "[1] 1 hello"]


def test_cpu_time_is_charged_if_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary mentions it, and invalid factors are rejected."""
    (tmp_path / "work.py").write_text("from mpi4py import MPI\nsum(range(10_000))\nassert MPI.Wtime() > 0\n")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-n", "2", "--cpu-scale", "1.5", "--summary", "work.py"]) == 0
    assert " with measured CPU time times 1.5, 0 messages" in capsys.readouterr().err
    for factor in ("-1", "nan", "inf", "much"):
        assert main(["run", "-n", "2", f"--cpu-scale={factor}", "work.py"]) == 2
        assert f"--cpu-scale: {factor} is not a factor of at least 0, such as 1.0" in capsys.readouterr().err


def test_packages_are_shared_or_private_by_choice(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """By options that can be repeated; invalid names are rejected."""
    for name in ("alpha", "beta"):
        (tmp_path / f"{name}.py").write_text("seen = []\n")
    monkeypatch.chdir(tmp_path)
    script = "from alpha import seen as a\nfrom beta import seen as b\na.append(0)\nb.append(0)\ncomm.Barrier()\n"
    for options, line in (((), "1 1"), (("--share", "alpha"), "2 1"), (("--share", "alpha", "--share", "beta"), "2 2")):
        assert execute(script + "print(len(a), len(b))", *options, ranks=2) == 0
        assert capsys.readouterr().out == f"{line}\n" * 2
        sys.modules.pop("alpha", None), sys.modules.pop("beta", None)
    assert execute("", "--private", "alpha", "--share", "alpha") == 2
    assert capsys.readouterr().err == "fakempi run: program: private alpha: it is also in share.\n"


def test_a_rank_that_exits_is_named(capsys: Capture) -> None:
    """And the reason why the run ends."""
    execute("import os\ncomm.Barrier()\ncomm.rank == 2 and os._exit(3)\ncomm.Barrier()")
    assert capsys.readouterr().err == "fakempi: rank 2 called os._exit(3) before MPI.Finalize, which ended the run\n"


def test_a_rank_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """At a modeled time; other ranks get an error."""
    monkeypatch.chdir(tmp_path)
    Path("work.py").write_text(f"{BEGINNING}import time\ntime.sleep(1)\ncomm.Barrier()\n")
    assert main(["run", "-q", "-n", "3", "--kill", "1@0.5", "work.py"]) == 1
    assert "Barrier on rank 0: rank 1 has died." in capsys.readouterr().err
    assert main(["run", "-n", "3", "--kill", "x", "work.py"]) == 2
    assert "x is not a rank and a time, like 3@2.5e-3" in capsys.readouterr().err


def test_no_frame_of_fakempi_is_shown_between_imports(tmp_path: Path, capsys: Capture) -> None:
    """Also where a file next to the script has the name of a module of Python, which changes how modules are imported."""
    for name, text in {"work": "import one", "one": "import two", "two": "1 / 0", "queue": ""}.items():
        (tmp_path / f"{name}.py").write_text(f"{text}\n")
    assert main(["run", "-n", "2", str(tmp_path / "work.py")]) == 1
    shown = [line.strip() for line in capsys.readouterr().err.splitlines() if "File" in line]
    assert shown == [f'File "{tmp_path / name}.py", line 1, in <module>' for name in ("work", "one", "two")]


@pytest.mark.slow
def test_output_that_the_encoding_lacks_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENVIRONMENT, "PYTHONIOENCODING", "ascii")
    script, trace = tmp_path / "hello.py", tmp_path / "hello.json"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n", encoding="utf-8")
    commands = [
        ["run", "-n", "2", "--trace", str(trace), str(script)],
        ["view", str(trace)],
        ["check", "-n", "2", str(script)],
        ["compare", "barrier", "-n", "4"],
        ["list", "bcast"],
    ]
    for arguments in commands:
        done = command(*arguments)
        assert (done.returncode, "Error" in done.stderr) == (0, False), (arguments, done.stderr)


PIPES = """
import os, ctypes
sys.stdout.reconfigure(errors="replace")
print("\\xe9\\u20ac")
sys.stdout.buffer.write(b"raw \\xff\\n")
sys.stdout.flush()
os.write(1, b"os \\xfe\\n")
ctypes.CDLL(None).printf(b"C library \\xfd\\n")
sys.stderr.buffer.write(b"error \\xfc")
if sys.argv[1:]:
    sys.stdout.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [(), ("--processes",)])
def test_bytes_reach_a_pipe_unchanged(tmp_path: Path, how: tuple[str, ...]) -> None:
    """In any encoding of the environment; with processes also those of C libraries. A rank may close its output."""
    script = tmp_path / "work.py"
    script.write_text(BEGINNING + PIPES)
    words = [sys.executable, "-m", "fakempi", "run", "-n", "1", *how, str(script), *how]
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(words, env=environment, capture_output=True, timeout=270, check=False)
    assert done.stderr == b"error \xfc"
    assert done.returncode == 0
    assert sorted(done.stdout.split(b"\n")) == [b"", b"C library \xfd", b"os \xfe", b"raw \xff", b"\xe9?"]


def test_a_broken_pipe_of_the_program_is_reported(capsys: Capture) -> None:
    """It is quiet only if the reader of our output is gone."""
    assert execute("raise BrokenPipeError('mine')", ranks=1) == 1
    assert "BrokenPipeError: mine\nfakempi: rank 0 of 1 failed" in capsys.readouterr().err


def test_options_of_python_start_another_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only for options that change how programs run; those of fakempi are kept."""
    started: list[list[str]] = []

    def execute(path: str, arguments: list[str]) -> None:
        started.append(arguments)
        raise SystemExit(7)

    monkeypatch.setattr(os, "execv", execute)
    path = tmp_path / "work.py"
    path.write_text("pass")
    with pytest.raises(SystemExit):
        main(["run", "-n", "2", "--prefix", "python", "-uO", "-W", "error", str(path), "-n", "5"])
    new = [sys.executable, "-O", "-Werror", "-m", "fakempi", "run", "-n", "2", "--prefix", "python", str(path), "-n", "5"]
    assert started == [new]
    assert main(["run", "-n", "1", "python", "-u", "-E", str(path)]) == 0
    assert len(started) == 1
