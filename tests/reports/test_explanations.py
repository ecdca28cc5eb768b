"""`fakempi explain`: every kind has a page, and the output on the page is that of its program."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.core.reports.explain import explanation
from fakempi.core.reports.findings import KINDS

ROOT = Path(__file__).parents[2]


@pytest.mark.quick(12)
@pytest.mark.parametrize("kind", KINDS)
def test_the_output_on_a_page_is_that_of_its_program(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program runs with the command on the page."""
    headings = re.split(r"^#+ (.*)\n", explanation(kind), flags=re.MULTILINE)
    assert headings[1::2] == [kind, "A program", "Output", "How to fix it"]
    program, printed = (textwrap.dedent(part.strip("\n")) for part in (headings[4], headings[6]))
    command, _, expected = printed.partition("\n")
    dollar, _, *words = command.split()
    assert (dollar, words[-1]) == ("$", f"{kind.replace('-', '_')}.py")
    (tmp_path / words[-1]).write_text(f"{program}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    main(words)
    out, err = capfd.readouterr()
    shown = re.sub(r"^ *[~^]+\n", "", out + err, flags=re.MULTILINE)  # below a line of a traceback, in newer Pythons
    assert shown.rstrip() == expected.rstrip()
    assert kind in expected


@pytest.mark.parametrize("kind", KINDS)
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
    assert [line.split()[0] for line in lines[: len(KINDS)]] == list(KINDS)
    assert max(map(len, lines)) <= 80


def test_an_unknown_kind_gets_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """With a suggestion."""
    assert main(["explain", "mesage-lost"]) == 2
    assert "Did you mean message-lost?" in capsys.readouterr().err


def test_the_docs_list_every_kind() -> None:
    """With its page, which exists."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*?) \|", page, re.MULTILINE)
    assert [(kind, means) for kind, _, means in rows] == list(KINDS.items())
    assert all((ROOT / "docs" / path).resolve().is_file() for _, path, _ in rows)


def test_the_page_on_deadlocks_shows_a_finding() -> None:
    """Its program and output are those of the page."""
    page = (ROOT / "docs" / "find_a_deadlock.md").read_text(encoding="utf-8")
    for part in re.split(r"^## .*\n", explanation("datatype-mismatch"), flags=re.MULTILINE)[1:3]:
        assert textwrap.dedent(part.strip("\n")) in page
