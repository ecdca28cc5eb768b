"""Invalid input of any kind: one sentence, and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.apps.cli.console import console
from tests.cli.test_running import ENVIRONMENT

Capture = pytest.CaptureFixture[str]

WRONG = [
    ("run -n -1 work.py", "'-1' is not a number of ranks: use 4 or 1k."),
    ("run -n 0 work.py", "-n 0: there must be at least 1 rank."),
    ("run -n 9999999999 work.py", "run: nprocs is 9,999,999,999; there can be at most 10,000,000 ranks."),
    ("run -n 1e3 work.py", "'1e3' is not a number of ranks: use 4 or 1k."),
    ("run -n 2 --cost hockney:t_s=1,, work.py", "'' is not a parameter with a value, such as t_s=1e-6."),
    ("run -n 2 --cost loggp:L=inf work.py", "LogGP: L=inf is not finite."),
    ("compare bcast -n 1..99999999999", "16,777,216 ranks are too many; the maximum is 10,000,000."),
    ("compare bcast -n -1", "'-1' is not a number of ranks: use 4 or 1k."),
    ("compare bcast -n 4 --bytes 1..99999999999999999999", "bytes are too many; the maximum is 1,099,511,627,776."),
    ("compare bcast -n 4 --cost loggp:L=inf", "LogGP: L=inf is not finite."),
    ("verify bcast/binomial --ranks -1", "'-1' is not a number of ranks: use 4 or 1k."),
    ("tour -1", "'-1' is not a page number: use 1 or 2."),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_invalid_input_is_reported_in_a_sentence(
    words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """One line on stderr."""
    monkeypatch.chdir(tmp_path)
    Path("work.py").write_text("pass\n")
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"fakempi {words.split()[0]}: ")
    assert said.err.endswith(f"{message}\n")
    assert said.err.count("\n") == 1


UNKNOWN = [
    ("comapre bcast", "fakempi: there is no command 'comapre'; did you mean compare?"),
    ("zzz", "fakempi: there is no command 'zzz'; the commands are run, mpirun, check, lint, list, view,"),
    ("compare bcast -n 4 --plot", "fakempi compare: '--plot' is not an option; did you mean --no-plot?"),
    ("run -n 2 --cots hockney work.py", "fakempi run: '--cots' is not an option; did you mean --cost?"),
    ("view t.json --zzz", "fakempi view: '--zzz' is not an option; for the options, run: fakempi view --help"),
]


@pytest.mark.parametrize(("words", "message"), UNKNOWN)
def test_an_unknown_command_or_option_is_reported_with_a_similar_one(words: str, message: str, capsys: Capture) -> None:
    """One line, which starts with the command, and without the usage."""
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(message)


@pytest.mark.parametrize("words", ["run -n 2 --poll-cost -1 x", "run -n 2 --poll-cost nan x",
    "compare bcast --jobs 9999999999"])
def test_invalid_options_that_the_parser_rejects_are_reported(words: str, capsys: Capture) -> None:
    """In one line, without the usage of argparse."""
    assert main(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi {words.split()[0]}: --")
    assert line.endswith(f"; for the options, run: fakempi {words.split()[0]} --help")


def test_what_is_missing_is_reported_with_an_example(capsys: Capture) -> None:
    """The first example of the help."""
    for words, line in (
        ("run work.py", "fakempi run: -n N is missing, for example: fakempi run -n 4 work.py input.dat"),
        ("run -n 2 --kill 9@1 -c 1", "fakempi run: kill names rank 9, but ranks are 0 to 1."),
        ("view", "fakempi view: FILE is missing, for example: fakempi view t.json"),
        ("schedule", "fakempi schedule: ACTION, FILE|NAME are missing, for example: fakempi schedule show ring.xml"),
        ("schedule verify a.xml bcast", "fakempi schedule: 'bcast' is one argument too many; for the options, run: "),
    ):
        assert main(words.split()) == 2
        assert capsys.readouterr().err.startswith(line), words


def test_a_path_that_is_no_file_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A directory, a similar name, a directory that does not exist."""
    monkeypatch.chdir(tmp_path)
    for name in ("ring.py", "ring.json"):
        (tmp_path / name).write_text("1")
    (tmp_path / "sub").mkdir()
    hint = "To record a trace, run:"
    for words, line in (
        ("run -n 2 rung.py", "fakempi run: there is no file 'rung.py'; did you mean ring.py?"),
        ("run -n 2 sub/../rung.py", "fakempi run: there is no file 'sub/../rung.py'; did you mean sub/../ring.py?"),
        ("run -n 2 sub", "fakempi run: 'sub' is a directory, not a file."),
        ("run -n 2 no/ring.py", "fakempi run: there is no file 'no/ring.py'."),
        ("view .", "fakempi view: '.' is a directory, not a file."),
        ("view rings.json", "fakempi view: there is no file 'rings.json'; did you mean ring.json?"),
        ("view a.json", f"fakempi view: there is no file 'a.json'. {hint} fakempi run -n N --trace a.json SCRIPT"),
        ("learn ring.py", "fakempi learn: ring.py: file exists."),
    ):
        assert main(words.split()) == 2
        assert capsys.readouterr().err == f"{line}\n"


def test_closed_standard_output_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """As in `fakempi list >&-`."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().err == "fakempi: standard output is closed.\n"


def test_a_run_without_standard_error_succeeds(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """As in `fakempi run ... 2>&-`: the output to it is lost."""
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["run", "-n", "1", "-c", "print('hello')"]) == 0
    assert main(["run", "-n", "-1", "-c", "pass"]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().out == "hello\n"


@pytest.mark.quick(1)
@pytest.mark.parametrize("words", ["collectives", "fakempi list"])
def test_a_closed_pipe_is_no_error(words: str) -> None:
    """As in `fakempi list | head -1`."""
    command = [sys.executable, "-m", *words.split()]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        try:
            assert run.stdout is not None
            run.stdout.close()
            assert run.communicate(timeout=270)[1] == b""
        finally:
            run.kill()


def test_a_closed_pipe_is_reported_to_main() -> None:
    """rich would end the process with code 1."""
    with pytest.raises(BrokenPipeError):
        console().on_broken_pipe()


def test_a_port_for_a_debugger_needs_a_rank_and_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the run starts, in one sentence."""
    (tmp_path / "work.py").write_text("")
    words = ["run", "-n", "2", "--debug-port", "5678"]
    assert main([*words, str(tmp_path / "work.py")]) == 2
    assert "--debug-port has no effect without --debug RANK" in capsys.readouterr().err
    monkeypatch.setattr("fakempi.apps.cli.running.find_spec", lambda name: None)
    assert main([*words, "--debug", "1", str(tmp_path / "work.py")]) == 2
    reason = "--debug-port needs the package debugpy, which is not installed."
    expected = f"fakempi run: {reason} To install it, run: pip install debugpy\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(("words", "progress"), [([], True), (["--debug", "1"], False), (["--quiet"], False)])
def test_no_progress_line_overwrites_the_prompt_of_a_debugger(
    words: list[str], progress: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """pdb reads its input in another process, of which the display does not know."""
    (tmp_path / "work.py").write_text("")
    found = []

    def run(*_: object, **options: object) -> None:
        found.append(options["progress"])
        raise KeyboardInterrupt

    monkeypatch.setattr("fakempi.apps.cli.running.run", run)
    assert main(["run", "-n", "2", *words, str(tmp_path / "work.py")]) == 130
    assert found == [progress]
