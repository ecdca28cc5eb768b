"""The reference has all names, and these say what they take, what they give, and an example."""

from __future__ import annotations

import argparse
import doctest
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import collectives
import fakempi
from collectives.ours import ours
from docs.hooks import made
from fakempi.checks.findings import KINDS
from fakempi.cli.parser import make_parser

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
CALLS = [getattr(fakempi, name) for name in fakempi.__all__ if callable(getattr(fakempi, name))]
CALLS += [collectives.find, collectives.fitting, collectives.verify, collectives.Algorithm, collectives.Case]
SPEAK_FOR_THEMSELVES = (Exception,)


def test_every_public_name_has_its_place() -> None:
    """Once, but for MPI, which has a page of its own."""
    shown = re.findall(r"^::: fakempi\.(\w+)$", "\n".join(PAGES.values()), re.MULTILINE)
    assert sorted(shown) == sorted({*fakempi.__all__, "strategies"} - {"__version__", "MPI"})


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_public_call_has_an_example(call: Any) -> None:
    """And says what each parameter is, if there are any."""
    text = inspect.getdoc(call) or ""
    if isinstance(call, type) and issubclass(call, SPEAK_FOR_THEMSELVES):
        return
    assert "\nExamples\n--------\n" in text
    named = re.split(r"\n(?:Parameters|Attributes)\n-+\n", text.split("\nExamples\n")[0])[1:]
    words = set(re.findall(r"\w+", " ".join(line for part in named for line in part.splitlines() if line[:1].strip())))
    taken = {name for name in inspect.signature(call).parameters if name != "self"}
    own = type(call) is not type or ("__init__" in vars(call) and call.__name__ != "Run")
    assert not (taken - words if own else set())


def test_every_command_and_option_is_on_the_page() -> None:
    """Made from the parser."""
    page = made.command_line()
    commands = next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    for name, parser in commands.choices.items():
        part = page.split(f"## fakempi {name}\n")[1].split("\n## ")[0]
        options = [word for action in parser._actions for word in action.option_strings if action.help != argparse.SUPPRESS]
        assert [word for word in options if f"`{word}" not in part and word not in ("-h", "--help")] == []


def test_every_algorithm_has_its_card() -> None:
    """On the page of its operation, with what it claims."""
    pages = made.catalogue()
    cards = [part for page in pages.values() for part in page.split("\n## ")[1:]]
    assert sorted(card.split("\n")[0] for card in cards) == sorted(algorithm.name for algorithm in ours())
    assert all("| Source | " in card and "| Time | " in card for card in cards)


def test_every_kind_of_finding_has_its_page() -> None:
    """As `fakempi explain` shows it."""
    assert list(made.findings()) == [f"findings/{kind}.md" for kind in KINDS]


def test_the_namespace_has_its_calls() -> None:
    """With parameters and a sentence; constants by name."""
    page = made.mpi()
    assert "| `Send(buf, dest, tag=0)` | Send a buffer;" in page
    assert "| `Get_processor_name()` |" in page
    assert "`ANY_SOURCE`" in page


def test_every_demo_is_on_the_site() -> None:
    """Its text, and what it prints."""
    pages = made.demos()
    assert len(pages) == len(list((ROOT / "demos").glob("[0-9][0-9]_*.py"))) + 1
    assert all(path.removeprefix("demos/") in pages["demos/index.md"] for path in pages if "index" not in path)


def test_every_page_is_in_the_navigation() -> None:
    """But those that are made from the code, which are put there when they are."""
    listed = set(re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES}
    assert listed - written == {"reference/command_line.md", "reference/mpi.md"}
    assert written - listed == set()


def test_the_version_is_the_same_everywhere() -> None:
    """In the code, for those who cite it, and in the list of changes."""
    version = fakempi.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_counts_right() -> None:
    """The algorithms."""
    assert f"{len(ours())} collective algorithms" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_of_the_calls_of_mpi_print_what_they_say() -> None:
    """All of them, in the order of the page; each is of a class that is there."""
    page, shown = made.mpi(), made.examples()
    assert [text for text in shown.values() if text not in page] == []
    text = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, {}, "examples", "examples.txt", 0)
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not failed, "".join(said)
    assert tried > 40
