"""`fakempi lint`: arguments, comments, settings, formats and exit codes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fakempi.apps.cli import main
from fakempi.apps.lint.rules.catalogue import TITLES
from tests.helpers.loops import for_each

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
WRONG = """from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:{}
    comm.barrier()
comm.Bcast(3){}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two files, one of which has two mistakes."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "work.py").write_text(WRONG.format("", ""))
    (tmp_path / "src" / "clean.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(output: str) -> list[str]:
    """The codes of findings in a text."""
    return [line.split()[1] for line in output.splitlines() if line[:1] not in ("", " ") and ".py:" in line]


def test_findings_are_printed_with_paths_and_a_fix(capsys: Capture) -> None:
    """Exit code 1; without findings 0."""
    assert main(["lint", "src"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"src{os.sep}work.py:3:1: FM101 barrier (line 4) is called only by some ranks: the condition")
    assert lines[1:3] == ["    where it holds: barrier (line 4)", "    elsewhere: no collective call"]
    assert lines[3].startswith("    fix: ")
    assert lines[-1] == "2 findings in 1 file; fakempi explain CODE shows an example."
    assert main(["lint", "src/clean.py"]) == 0
    assert capsys.readouterr().out == "no findings\n"
    assert main(["lint", "--exit-zero", "src"]) == 0


def test_the_working_directory_is_the_default(capsys: Capture) -> None:
    """Without environments and generated directories."""
    for name in (".venv", "build", "__pycache__"):
        Path(name).mkdir()
        Path(name, "other.py").write_text(WRONG.format("", ""))
    assert main(["lint"]) == 1
    assert codes(capsys.readouterr().out) == ["FM101", "FM303"]


@for_each(("first", "second", "expected"), [
    ("", "", ["FM101", "FM303"]),
    ("  # noqa", "", ["FM303"]),
    ("  # noqa: FM101", "  # NOQA:fm303 a number", []),
    ("  # noqa: E501, FM101", "  # noqa: E501", ["FM303"]),
    ("  # noqa: FM102", "  # type: ignore # noqa: E501 FM303", ["FM101"]),
    ('; text = "# noqa"', "", ["FM101", "FM303"]),
])  # fmt: skip
def test_comments_suppress_findings(first: str, second: str, expected: list[str], capsys: Capture, project: Path) -> None:
    """On the line of the finding; codes of other tools are ignored, and so is a comment in a text."""
    text = WRONG.replace(":{}", ":  {}") if ";" in first else WRONG
    if ";" in first:
        text = text.replace("comm = MPI.COMM_WORLD", f"comm = MPI.COMM_WORLD{first}")
        first = ""
    (project / "src" / "work.py").write_text(text.format(first, second))
    main(["lint", "src"])
    assert codes(capsys.readouterr().out) == expected


def test_select_and_ignore(capsys: Capture) -> None:
    """Codes, or their beginnings, several times or with commas."""
    for words, expected in (
        (["--select", "FM3"], ["FM303"]),
        (["--select", "FM1,FM303"], ["FM101", "FM303"]),
        (["--ignore", "fm101"], ["FM303"]),
        (["--ignore", "FM1", "--ignore", "FM3"], []),
        (["--exclude", "work.py"], []),
        (["--exclude", "src/*"], []),
        (["--exclude", "tests"], ["FM101", "FM303"]),
    ):
        main(["lint", *words, "."])
        assert codes(capsys.readouterr().out) == expected, words


def test_settings_are_read_from_pyproject(capsys: Capture, project: Path) -> None:
    """Options add to the lists, and replace `select`."""
    settings = (
        '[tool.fakempi.lint]\nselect = ["FM1", "FM2"]\nper-file-ignores = {"tests/*" = ["FM101"]}\nexclude = ["old"]\n'
    )
    (project / "pyproject.toml").write_text(settings)
    for name in ("tests", "old"):
        (project / name).mkdir()
        (project / name / "more.py").write_text(WRONG.format("", ""))
    main(["lint"])
    assert codes(capsys.readouterr().out) == ["FM101"]
    main(["lint", "--select", "FM3"])
    assert codes(capsys.readouterr().out) == ["FM303", "FM303"]
    main(["lint", "--ignore", "FM1"])
    assert codes(capsys.readouterr().out) == []


@for_each(("settings", "message"), [
    ("selects = []", "pyproject.toml, [tool.fakempi.lint]: selects is unknown; did you mean select?"),
    ('select = "FM1"', "pyproject.toml, [tool.fakempi.lint]: select must have lists of texts."),
    ('ignore = ["FM99"]', "pyproject.toml, [tool.fakempi.lint], ignore: the code 'FM99' is unknown; the codes are FM101,"),
])  # fmt: skip
def test_wrong_settings_are_usage_errors(settings: str, message: str, capsys: Capture, project: Path) -> None:
    """One sentence, and exit code 2."""
    (project / "pyproject.toml").write_text(f"[tool.fakempi.lint]\n{settings}\n")
    assert main(["lint", "src"]) == 2
    assert capsys.readouterr().err.startswith(f"fakempi lint: {message}")


def test_wrong_arguments_are_usage_errors(capsys: Capture) -> None:
    """A file that does not exist, a code that does not exist."""
    assert main(["lint", "nosuch.py"]) == 2
    assert capsys.readouterr().err == "fakempi lint: nosuch.py: no such file or directory.\n"
    assert main(["lint", "--select", "FM104x"]) == 2
    assert "the code 'FM104X' is unknown; did you mean FM104?" in capsys.readouterr().err


def test_a_syntax_error_is_reported_and_other_files_are_checked(capsys: Capture, project: Path) -> None:
    """With file and line; also null bytes, deep nesting and an unknown encoding."""
    for name, data in (("a", b"x = 1\nif x\n"), ("b", b"x = '\0'\n"), ("c", b"# coding: nosuch\n"), ("d", b"x = '\xff'\n"),
                       ("e", b"(" * 300 + b")" * 300)):  # fmt: skip
        (project / "src" / f"{name}.py").write_bytes(data)
    assert main(["lint", "src"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"src{os.sep}a.py:2:5: FM001 syntax error, so the file is not checked: expected ':'")
    assert codes("\n".join(lines)) == [*["FM001"] * 5, "FM101", "FM303"]


def test_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-`, with a name for findings."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(WRONG.format("", "").encode())))
    assert main(["lint", "-", "--stdin-filename", "editor.py"]) == 1
    assert capsys.readouterr().out.startswith("editor.py:3:1: FM101 ")


def test_json_and_statistics(capsys: Capture, project: Path) -> None:
    """A list of objects; a number for each code. `--output` writes a file."""
    assert main(["lint", "--format", "json", "--output", "found.json", "src"]) == 1
    found = json.loads((project / "found.json").read_text(encoding="utf-8"))
    assert [(each["code"], each["line"], each["column"]) for each in found] == [("FM101", 3, 1), ("FM303", 5, 12)]
    assert found[0]["paths"] == ["where it holds: barrier (line 4)", "elsewhere: no collective call"]
    assert main(["lint", "--statistics", "src"]) == 1
    assert capsys.readouterr().out.splitlines()[0].split(maxsplit=2) == ["1", "FM101", TITLES["FM101"]]


def test_sarif(capsys: Capture) -> None:
    """Version 2.1.0, with relative addresses, rules with their explanations, and results that refer to them."""
    assert main(["lint", "--format", "sarif", "src"]) == 1
    log = json.loads(capsys.readouterr().out)
    (run,) = log["runs"]
    rules, results = run["tool"]["driver"]["rules"], run["results"]
    assert log["version"] == "2.1.0"
    assert [(each["ruleId"], rules[each["ruleIndex"]]["id"]) for each in results] == [("FM101", "FM101"), ("FM303", "FM303")]
    location = results[1]["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "src/work.py"}, "region": {"startLine": 5, "startColumn": 12}}
    assert "Wrong:" in rules[0]["help"]["markdown"]
    assert results[0]["message"]["text"].splitlines()[2] == "elsewhere: no collective call"


def test_annotations_of_github(capsys: Capture) -> None:
    """One line each, with encoded line breaks."""
    assert main(["lint", "--format", "github", "src"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"::error file=src{os.sep}work.py,line=3,col=1,title=fakempi lint (FM101)::barrier")
    assert "%0Aelsewhere: no collective call%0Afix: " in first
    assert "FM303" in second


def test_the_explanation_of_a_rule(capsys: Capture) -> None:
    """In any case of the letters; the list of kinds has the rules, too."""
    assert main(["explain", "fm103"]) == 0
    assert capsys.readouterr().out.startswith("FM103: a loop with collective calls")
    assert main(["explain"]) == 0
    assert all(code in capsys.readouterr().out for code in ["FM101"])


def test_the_command_does_not_import_numpy() -> None:
    """It reads sources, and has to start fast enough for a hook that runs before each commit."""
    program = "import sys, fakempi.apps.cli.linting; print({'numpy', 'mpi4py', 'greenlet'} & set(sys.modules))"
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout == "set()\n"
