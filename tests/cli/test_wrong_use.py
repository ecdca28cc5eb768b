"""Whatever is typed that makes no sense: one sentence, and exit code 2."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fakempi.cli import main
from fakempi.cli.console import console

Capture = pytest.CaptureFixture[str]

WRONG = [
    ("run -n -1 work.py", "'-1' is not a number of ranks: say 4 or 1k."),
    ("run -n 0 work.py", "-n 0: there must be at least 1 rank."),
    ("run -n 9999999999 work.py", "run: nprocs is 9,999,999,999; there can be at most 10,000,000 ranks."),
    ("run -n 1e3 work.py", "'1e3' is not a number of ranks: say 4 or 1k."),
    ("run -n 2 --cost hockney:t_s=1,, work.py", "'' should be a parameter and its value, such as t_s=1e-6."),
    ("run -n 2 --cost loggp:L=inf work.py", "LogGP: L=inf is not finite."),
    ("compare bcast -n 1..99999999999", "16,777,216 ranks are too many; there can be at most 10,000,000."),
    ("compare bcast -n -1", "'-1' is not a number of ranks: say 4 or 1k."),
    ("compare bcast -n 4 --bytes 1..99999999999999999999", "bytes are too many; there can be at most 1,099,511,627,776."),
    ("compare bcast -n 4 --cost loggp:L=inf", "LogGP: L=inf is not finite."),
    ("verify bcast/binomial --ranks -1", "'-1' is not a number of ranks: say 4 or 1k."),
    ("tour -1", "'-1' is not a number of stations: say 1 or 2."),
]


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_what_makes_no_sense_is_told_in_a_sentence(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """On stderr, one line."""
    monkeypatch.chdir(tmp_path)
    Path("work.py").write_text("pass\n")
    assert main(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"fakempi {words.split()[0]}: ")
    assert said.err.endswith(f"{told}\n")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("words", ["run -n 2 --poll -1 x", "run -n 2 --poll nan x", "compare bcast --jobs 9999999999"])
def test_so_are_options_that_the_parser_reads(words: str, capsys: Capture) -> None:
    """After the usage."""
    assert main(words.split()) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"fakempi {words.split()[0]}: error: argument --")


def test_standard_output_that_is_closed_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """As in `fakempi list >&-`."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().err == "fakempi: standard output is closed.\n"


def test_without_standard_error_all_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """As in `fakempi run ... 2>&-`: what would be said there is lost."""
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["run", "-n", "1", "-c", "print('hello')"]) == 0
    assert main(["run", "-n", "-1", "-c", "pass"]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().out == "hello\n"


def test_a_reader_that_leaves_is_told_to_main() -> None:
    """rich would end the process with code 1."""
    with pytest.raises(BrokenPipeError):
        console().on_broken_pipe()
