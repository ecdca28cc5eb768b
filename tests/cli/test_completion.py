"""`fakempi completion`: shells complete commands, options and names; `fakempi help`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import SUPPRESS
from pathlib import Path
from time import sleep

import pytest

from collectives import find
from fakempi.apps.cli import main
from fakempi.apps.cli.completion.candidates import candidates, subparsers
from fakempi.apps.cli.completion.shells import SCRIPTS
from fakempi.apps.cli.completion.values import FILES, source
from fakempi.apps.cli.parser import make_parser
from fakempi.core import options as parse
from fakempi.core.reports.findings import KINDS
from tests.cli.test_running import ENVIRONMENT, ROOT
from tests.helpers.loops import for_each

Capture = pytest.CaptureFixture[str]


def texts(line: str) -> list[str]:
    """The candidates for the end of a line, without descriptions."""
    return [text for text, _ in candidates(line.split(" "))]


EXPECTED = {
    "ru": ["run"],
    "com": ["compare", "completion"],
    "--ver": ["--version"],
    "nosuch x": [],
    "run --cos": ["--cost"],
    "run -n ": [],
    "run -n 4 --backend gr": ["greenlets"],
    "run --backend=gr": ["--backend=greenlets"],
    "run --cost two_g": ["two_groups", FILES[0]],
    "run --cost=two_g": ["--cost=two_groups", FILES[0]],
    "run --cost hockney:t_": ["hockney:t_s=", "hockney:t_w="],
    "run --cost hockney:t_s=1,eag": ["hockney:t_s=1,eager_limit="],
    "run --cost two_level:inter.": ["two_level:inter.t_s=", "two_level:inter.t_w="],
    "run --algorithms mpich,allgatherv": ["mpich,allgatherv="],
    "run --algorithms bcast=binomial_": ["bcast=binomial_doubling"],
    "check --algorithms ope": ["openmpi"],
    "run -n 4 work": [FILES[0]],
    "run -n 4 work.py --cos": [FILES[0]],
    "run --kill 1@2 -": [option for option in texts("run -") if option.startswith("-")],
    "mpirun --he": ["--help"],
    "compare inter:allgather": ["inter:allgather", "inter:allgatherv", FILES[0]],
    "compare bcast -n 4 --algorithms binomial,cha": ["binomial,chain"],
    "compare allgatherv --distribution regular,al": ["regular,all"],
    "compare --figure ": [FILES[0]],
    "list reduce_scatter_": ["reduce_scatter_block", FILES[0]],
    "tune --operations bcast,allt": ["bcast,alltoall", "bcast,alltoallv", "bcast,alltoallw"],
    "tune --for open": ["openmpi", "openmpi-json"],
    "verify inter:allgather/fu": ["inter:allgather/full_duplex", FILES[0]],
    "schedule ver": ["verify"],
    "schedule verify all": ["allgather/", "allgatherv/", "allreduce/", "alltoall/", "alltoallv/", "alltoallw/", FILES[0]],
    "schedule verify ring.xml --operation allred": ["allreduce", FILES[0]],
    "view --what summary,ti": ["summary,timeline"],
    "view a.json ": [FILES[0]],
    "explain message-": [kind for kind in KINDS if kind.startswith("message-")],
    "learn --grade a b": [FILES[0]],
    "help expl": ["explain"],
    "completion ": ["bash", "zsh", "fish"],
}


@for_each("line", EXPECTED)
def test_the_last_word_is_completed(line: str) -> None:
    """As far as it is typed."""
    assert texts(line) == EXPECTED[line]


def test_something_is_known_about_each_option_of_each_command() -> None:
    """An option with a new metavar needs an entry in values.py."""
    for name, command in subparsers(make_parser()).items():
        for action in command._actions:
            if action.help != SUPPRESS and action.nargs != 0 and action.choices is None:
                assert callable(source(name, action))  # KeyError if nothing is known


def test_what_is_completed_is_accepted() -> None:
    """Every cost model, algorithm and parameter."""
    for model in texts("run --cost ")[:-1]:
        assert model in parse.MODELS
        for begin in texts(f"run --cost {model}:"):
            assert begin.startswith(f"{model}:")
            assert begin.endswith("=")
    for operation in texts("verify ")[:-1]:
        for name in texts(f"verify {operation}")[:-1]:
            typed, _, algorithm = name.partition("/")
            kind, colon, rest = typed.rpartition(":")
            assert find(rest, algorithm, kind if colon else None).name == algorithm
    for table in ("plain", "mpich", "openmpi"):
        assert parse.algorithms(table)
    for operation in texts("run --algorithms ")[3:]:
        for part in texts(f"run --algorithms {operation}"):
            assert parse.algorithms(part)


def test_completion_prints_a_script_for_a_shell(capsys: Capture) -> None:
    """The same for all installations: names are listed when Tab is pressed."""
    for shell, script in SCRIPTS.items():
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == script
    assert main(["completion", "--words", "explain", "message-l"]) == 0
    assert capsys.readouterr().out == f"message-lost\t{KINDS['message-lost']}\n"


TYPED = [
    ("fakempi expl", "fakempi explain"),
    ("fakempi explain message-l", "fakempi explain message-lost"),
    ("fakempi run -n 4 --cost hock", "fakempi run -n 4 --cost hockney"),
    ("fakempi run --cost hockney:eag", "fakempi run --cost hockney:eager_limit="),
    ("fakempi run --cost=hock", "fakempi run --cost=hockney"),
    ("fakempi list inter:allto", "fakempi list inter:alltoall"),  # what its three candidates have in common
    ("fakempi verify inter:allgather/full_d", "fakempi verify inter:allgather/full_duplex"),
    ("fakempi run -n 4 wor", "fakempi run -n 4 work.py"),
]
START = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
FIRST = {
    "bash": "source ./script",  # without ./ it is searched for on the path
    "zsh": "autoload -U compinit; compinit -u -D; source ./script",
    "fish": "source ./script",
}


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of POSIX")
@pytest.mark.timeout(100)
@pytest.mark.slow
@pytest.mark.parametrize("shell", [pytest.param(shell, marks=pytest.mark.sample) for shell in SCRIPTS])
def test_shells_complete_what_is_typed(shell: str, tmp_path: Path) -> None:
    """In a terminal, with the shell's own completion: Tab, then the line is written to a file."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt-get install {shell}")

    (tmp_path / "work.py").touch()
    (tmp_path / "script").write_text(SCRIPTS[shell])
    program = tmp_path / "bin" / "fakempi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fakempi "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), ENVIRONMENT.get("PATH", "")])
    variables = ENVIRONMENT | {"PATH": path, "HOME": str(tmp_path), "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    start = f"{FIRST[shell]}; echo ready"
    lines, expected = tmp_path / "lines", ["ready", *(completed for _, completed in TYPED)]
    with (tmp_path / "shown").open("wb") as shown:
        process = subprocess.Popen(
            [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", shell, *START[shell]],
            env=variables, cwd=tmp_path, stdin=subprocess.PIPE, stdout=shown, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdin is not None
        try:
            # The completed line becomes an argument of echo: Ctrl-A goes to its beginning, Ctrl-E to its end.
            for number, typed in enumerate([start, *(f"{typed}\t\x01echo '\x05'" for typed, _ in TYPED)]):
                process.stdin.write(f"{typed} >> lines\r".encode())
                process.stdin.flush()
                while not lines.exists() or lines.read_text().count("\n") <= number:
                    sleep(0.02)  # until pytest's limit
        finally:
            process.kill()
            process.communicate(timeout=60)
    found = [line.rstrip() for line in lines.read_text().splitlines()]
    assert found == expected, (tmp_path / "shown").read_text(errors="replace")


def test_help_shows_the_options_of_a_command(capsys: Capture) -> None:
    """As `--help` does; without a command, all commands."""
    for topic in ([], ["compare"], ["mpirun"], ["help"]):
        assert main(["help", *topic]) == 0
        text = capsys.readouterr().out
        assert main([*topic, "--help"]) == 0
        assert (text, text.startswith("usage: fakempi")) == (capsys.readouterr().out, True)


def test_help_on_an_unknown_command_names_a_similar_one(capsys: Capture) -> None:
    """In one line, with exit code 2."""
    for word, line in (
        ("comapre", "fakempi help: there is no command 'comapre'; did you mean compare?\n"),
        ("zzz", "fakempi help: there is no command 'zzz'; the commands are run, mpirun, "),
    ):
        assert main(["help", word]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(line)
    assert main(["help", "run", "more"]) == 2
    assert capsys.readouterr().err.startswith("fakempi help: 'more' is one argument too many")
