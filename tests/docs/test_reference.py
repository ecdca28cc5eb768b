"""The reference lists all public names, and their docstrings have parameters and examples."""

from __future__ import annotations

import argparse
import doctest
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

import collectives
import fakempi
from collectives.bundled import bundled
from docs.hooks import generated
from fakempi.apps.cli.parser import make_parser
from fakempi.core.reports.explain import TOPICS
from tests.helpers.loops import for_each

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
CALLS = [getattr(fakempi, name) for name in dir(fakempi) if callable(getattr(fakempi, name))]
CALLS += [collectives.find, collectives.fitting, collectives.verify, collectives.Algorithm, collectives.Case]
WITHOUT_EXAMPLE = (Exception,)


def test_the_reference_has_every_public_name_once() -> None:
    """Except MPI, which has a separate page."""
    shown = re.findall(r"^::: fakempi\.(\w+)$", "\n".join(PAGES.values()), re.MULTILINE)
    assert sorted(shown) == sorted({*dir(fakempi)} - {"__version__", "MPI"})


@for_each("call", CALLS)
def test_a_public_call_has_an_example(call: Any) -> None:
    """The docstring describes every parameter."""
    text = inspect.getdoc(call) or ""
    if isinstance(call, type) and issubclass(call, WITHOUT_EXAMPLE):
        return
    assert "\nExamples\n--------\n" in text
    named = re.split(r"\n(?:Parameters|Attributes)\n-+\n", text.split("\nExamples\n")[0])[1:]
    words = set(re.findall(r"\w+", " ".join(line for part in named for line in part.splitlines() if line[:1].strip())))
    taken = {name for name in inspect.signature(call).parameters if name != "self"}
    own = type(call) is not type or ("__init__" in vars(call) and call.__name__ != "Run")
    assert not (taken - words if own else set())


def test_every_command_and_option_is_on_the_page() -> None:
    """The page is generated from the parser."""
    page = generated.command_line()
    commands = next(one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    for name, parser in commands.choices.items():
        part = page.split(f"## fakempi {name}\n")[1].split("\n## ")[0]
        options = [word for action in parser._actions for word in action.option_strings if action.help != argparse.SUPPRESS]
        assert [word for word in options if f"`{word}" not in part and word not in ("-h", "--help")] == []


def test_every_algorithm_has_its_card() -> None:
    """On the page of its operation, with its claims."""
    pages = generated.catalogue()
    cards = [part for page in pages.values() for part in page.split("\n## ")[1:]]
    assert sorted(card.split("\n")[0] for card in cards) == sorted(algorithm.name for algorithm in bundled())
    assert all("| Source | " in card and "| Time | " in card for card in cards)


def test_every_kind_of_finding_or_error_has_its_page() -> None:
    """As `fakempi explain` shows it."""
    assert list(generated.findings()) == [f"findings/{kind}.md" for kind in TOPICS]


def test_the_namespace_has_its_calls() -> None:
    """With parameters and a description; constants by name."""
    page = generated.mpi()
    assert "| `Send(buf, dest, tag=0)` | Send a buffer;" in page
    assert "| `Get_processor_name()` |" in page
    assert "`ANY_SOURCE`" in page


def test_every_demo_is_on_the_site() -> None:
    """With its program and its output."""
    pages = generated.demos()
    assert len(pages) == len(list((ROOT / "demos").glob("[0-9][0-9]_*.py"))) + 1
    assert all(path.removeprefix("demos/") in pages["demos/index.md"] for path in pages if "index" not in path)


def test_every_page_is_in_the_navigation() -> None:
    """Generated pages are added when the site is built."""
    listed = set(re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES}
    assert listed - written == {"notebook.md", "reference/command_line.md", "reference/mpi.md"}
    assert written - listed == set()


def test_the_version_is_the_same_everywhere() -> None:
    """In the code, in CITATION.cff and in the changelog."""
    version = fakempi.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_documentation_counts_algorithms_and_exercises() -> None:
    """README.md has the size of the catalogue and of the course, algorithms.md the size of each kind."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(collectives.CATALOGUE)} collective algorithms" in readme
    exercises = [path for path in (ROOT / "fakempi/apps/course/exercises").iterdir() if path.name[:2].isdigit()]
    for path in (ROOT / "README.md", ROOT / "docs/learn.md", ROOT / "docs/tutorial.md", ROOT / "docs/index.md"):
        assert f"{len(exercises)} exercises" in " ".join(path.read_text(encoding="utf-8").split())
    kinds = Counter(algorithm.kind for algorithm in bundled())
    assert (
        f"{kinds['intra']} algorithms within a group, {kinds['inter']} between the two groups of an intercommunicator, "
        f"{kinds['chain']} sorts and {kinds['split']} splits on chains"
    ) in " ".join((ROOT / "docs/algorithms.md").read_text(encoding="utf-8").split())


def test_the_test_directories_in_contributing_exist() -> None:
    """The table of the inner loop names directories of tests."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for line in re.findall(r"`pytest (.*?)`", text) for name in line.split()}
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).is_dir()] == []


def test_examples_of_mpi_calls_print_the_output_shown() -> None:
    """All examples, in the order of the page; each belongs to a class on the page."""
    page, shown = generated.mpi(), generated.examples()
    assert [text for text in shown.values() if text not in page] == []
    text = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, {}, "examples", "examples.txt", 0)
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not failed, "".join(report)
    assert tried > 40
