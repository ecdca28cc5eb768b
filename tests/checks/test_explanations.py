"""`fakempi explain`: every kind has a page, and what the page says is printed is what its program prints."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from fakempi.checks.explain import explanation
from fakempi.checks.findings import KINDS
from fakempi.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_page_says_is_printed_is_printed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The program on it is run with the command on it."""
    headings = re.split(r"^#+ (.*)\n", explanation(kind), flags=re.MULTILINE)
    assert headings[1::2] == [kind, "A program", "What is printed", "How to mend it"]
    program, printed = (textwrap.dedent(part.strip("\n")) for part in (headings[4], headings[6]))
    command, _, expected = printed.partition("\n")
    dollar, _, *words = command.split()
    assert (dollar, words[-1]) == ("$", f"{kind.replace('-', '_')}.py")
    (tmp_path / words[-1]).write_text(f"{program}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    main(words)
    out, err = capfd.readouterr()
    shown = re.sub(r"^ *[~^]+\n", "", out + err, flags=re.MULTILINE)  # under a line of a traceback, by the newer Pythons
    assert shown.rstrip() == expected.rstrip()
    assert kind in expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_printed_at_any_width(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words are not lost, and paragraphs are no wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["explain", kind]) == 0
    shown = capsys.readouterr().out
    plain = re.sub(r"^#+ ", "", explanation(kind).replace("`", ""), flags=re.MULTILINE)
    assert shown.split() == plain.split()
    assert all(len(line) <= 60 for line in shown.splitlines() if not line.startswith("    "))


def test_without_a_kind_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each with what it means, in 80 columns."""
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: len(KINDS)]] == list(KINDS)
    assert max(map(len, lines)) <= 80


def test_an_unknown_kind_gets_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """And what may have been meant."""
    assert main(["explain", "mesage-lost"]) == 2
    assert "did you mean message-lost?" in capsys.readouterr().err


def test_the_docs_list_every_kind_as_it_is() -> None:
    """With its page, which is there."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*?) \|", page, re.MULTILINE)
    assert [(kind, means) for kind, _, means in rows] == list(KINDS.items())
    assert all((ROOT / "docs" / path).resolve().is_file() for _, path, _ in rows)


def test_the_page_on_deadlocks_shows_a_finding_as_it_is() -> None:
    """Its program and what is printed are those of the page."""
    page = (ROOT / "docs" / "find_a_deadlock.md").read_text(encoding="utf-8")
    for part in re.split(r"^## .*\n", explanation("datatype-mismatch"), flags=re.MULTILINE)[1:3]:
        assert textwrap.dedent(part.strip("\n")) in page
