"""`fakempi explain`: every kind has a page, the output on it is that of its program, and the corrected program is clean."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.core.reports.error_kinds import error_kind, kind_of_class
from fakempi.core.reports.explain import TOPICS, explained_by, explanation
from fakempi.errors import MPIError, RankError, classes

ROOT = Path(__file__).parents[2]


def parts_of(kind: str) -> tuple[str, list[str], str, str]:
    """The program of a page, the words of its command, the output, and the corrected program."""
    headings = re.split(r"^#+ (.*)\n", explanation(kind), flags=re.MULTILINE)
    assert headings[1::2] == [kind, "A program", "Output", "How to fix it", "A corrected program"]
    program, printed = (textwrap.dedent(part.strip("\n")) for part in (headings[4], headings[6]))
    corrected = "".join(re.findall(r"^(?:    .*)?\n", headings[10], re.MULTILINE))
    command, _, expected = printed.partition("\n")
    dollar, _, *words = command.split()
    assert (dollar, words[-1]) == ("$", f"{kind.replace('-', '_')}.py")
    return program, words, expected, textwrap.dedent(corrected.strip("\n"))


@pytest.mark.quick(12)
@pytest.mark.parametrize("kind", TOPICS)
def test_the_output_on_a_page_is_that_of_its_program(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program runs with the command on the page."""
    program, words, expected, _ = parts_of(kind)
    (tmp_path / words[-1]).write_text(f"{program}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    main(words)
    out, err = capfd.readouterr()
    text = (out + err).replace(os.path.join(os.getcwd(), ""), "")
    shown = re.sub(r"^ *[~^]+\n", "", text, flags=re.MULTILINE)  # below a line of a traceback, in newer Pythons
    assert shown.rstrip() == expected.rstrip()
    assert kind in expected or kind in ("exception", "abort")


@pytest.mark.quick(12)
@pytest.mark.parametrize("kind", TOPICS)
def test_the_corrected_program_on_a_page_has_no_finding(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With the same command."""
    _, words, _, corrected = parts_of(kind)
    (tmp_path / words[-1]).write_text(f"{corrected}\n")
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert "fakempi:" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", TOPICS)
def test_a_page_is_printed_at_any_width(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No word is lost, and paragraphs fit the terminal."""
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["explain", kind]) == 0
    shown = capsys.readouterr().out
    plain = re.sub(r"^#+ ", "", explanation(kind).replace("`", ""), flags=re.MULTILINE)
    assert shown.split() == plain.split()
    assert all(len(line) <= 60 for line in shown.splitlines() if not line.startswith("    "))


def test_without_a_kind_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its meaning, in 80 columns."""
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [kind for line in lines if line and (kind := line.split()[0]) in TOPICS] == list(TOPICS)
    assert max(map(len, lines)) <= 80


def test_error_classes_and_exceptions_are_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    """Also a part of a name, if it belongs to one kind only."""
    for typed, kind in {
        "ERR_TRUNCATE": "truncation", "MPI.ERR_ROOT": "invalid-root", "MPI_ERR_RMA_RANGE": "window-error",
        "tag": "invalid-tag", "fakempi.DeadlockError": "deadlock", "Deadlock": "deadlock", "message_lost": "message-lost",
    }.items():  # fmt: skip
        assert main(["explain", typed]) == 0, typed
        assert capsys.readouterr().out.split()[0] == kind, typed


def test_every_error_class_has_a_kind() -> None:
    """And the command that explains an error names it."""
    for name, number in vars(classes).items():
        if name.startswith("ERR_") and name != "ERR_LASTCODE":
            assert kind_of_class(name) in TOPICS
            error = MPIError(number, "text")
            assert error_kind(RankError(0, error)) == kind_of_class(name)
            assert explained_by(error) == f"fakempi explain {kind_of_class(name)}"
    assert explained_by(RankError(0, ZeroDivisionError())) == ""


def test_an_unknown_kind_gets_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """With a suggestion."""
    assert main(["explain", "mesage-lost"]) == 2
    assert "Did you mean message-lost?" in capsys.readouterr().err


def test_the_docs_list_every_kind() -> None:
    """With its page, which exists."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*?) \|", page, re.MULTILINE)
    assert [(kind, means) for kind, _, means in rows] == list(TOPICS.items())
    assert all((ROOT / "docs" / path).resolve().is_file() for _, path, _ in rows)


def test_the_page_on_deadlocks_shows_a_finding() -> None:
    """Its program and output are those of the page."""
    page = (ROOT / "docs" / "find_a_deadlock.md").read_text(encoding="utf-8")
    for part in re.split(r"^## .*\n", explanation("datatype-mismatch"), flags=re.MULTILINE)[1:3]:
        assert textwrap.dedent(part.strip("\n")) in page
