"""Pages generated from the code: command line, catalogue of algorithms, names of MPI, findings, demos."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def cell(text: object) -> str:
    """Text for a table cell, with special characters escaped."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def code(text: object) -> str:
    """Code for a table cell."""
    return f"`{' '.join(str(text).split())}`".replace("|", "\\|")


def command_line() -> str:
    """The page of the command line: every command with usage, options and examples."""
    from fakempi.apps.cli.parser import make_parser

    parser = make_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = [
        "# Command line",
        "This page lists all commands and options of `fakempi`. It is generated from the parser and has the text of "
        "`fakempi COMMAND --help`. `python -m fakempi` is the same command.",
        *(part for name, one in commands.choices.items() for part in command(name, one)),
    ]
    return "\n\n".join(parts) + "\n"


def command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """The section of a command."""
    yield f"## fakempi {name}"
    yield parser.description or ""
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    yield f"```text\n{re.sub(r'^ {7}', '', usage, flags=re.MULTILINE)}\n```"
    rows = [option(action) for action in parser._actions if action.help not in (None, argparse.SUPPRESS)]
    rows = [row for row in rows if not row.startswith("| `-h`")]
    if rows:
        yield "\n".join(["| option | meaning |", "|---|---|", *rows])
    if parser.epilog:
        yield f"```text\n{parser.epilog.rstrip()}\n```"


def option(action: argparse.Action) -> str:
    """The table row of an option."""
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest.upper())
    typed = [code(f"{one} {value}".strip()) for one in action.option_strings] or [code(action.metavar or action.dest)]
    return f"| {', '.join(typed)} | {cell((action.help or '').replace('%%', '%'))} |"


def findings() -> dict[str, str]:
    """A page for each kind of finding or error: the text of `fakempi explain`."""
    from fakempi.core.reports.explain import TOPICS, explanation

    return {f"findings/{kind}.md": explanation(kind) for kind in TOPICS}


def catalogue() -> dict[str, str]:
    """A page for each operation with the cards of its algorithms, after an index page."""
    from collectives.bundled import bundled
    from fakempi.apps.cli.listing import LEGEND, typed_name

    by_operation: dict[str, list[Any]] = {}
    for algorithm in bundled():
        by_operation.setdefault(typed_name(algorithm), []).append(algorithm)
    names = sorted(by_operation, key=lambda name: (":" in name, name))
    links = {name: [f"[{one.name}]({file_name(name)}#{one.name})" for one in by_operation[name]] for name in names}
    rows = [f"| [{name}]({file_name(name)}) | {', '.join(links[name])} |" for name in names]
    intro = (
        f"This catalogue lists the {len(bundled())} algorithms of the package `collectives`, by operation. Each description "
        f"is the docstring of the algorithm's file, and the tests compare its claims with runs. `fakempi list` prints the "
        f"same in a terminal, including algorithms of installed packages."
    )
    top = "\n".join(
        [
            "# Catalogue of algorithms",
            "",
            intro,
            "",
            LEGEND.split(" fakempi list")[0],
            "",
            "| operation | algorithms |",
            "|---|---|",
            *rows,
        ]
    )
    pages = {"catalogue/index.md": top + "\n"}
    for name in names:
        cards = "\n\n".join(card(algorithm) for algorithm in by_operation[name])
        pages[f"catalogue/{file_name(name)}"] = f"# {name}\n\n{overview(by_operation[name])}\n\n{cards}\n"
    return pages


def overview(algorithms: list[Any]) -> str:
    """The table of algorithms with which the page of an operation begins: rounds, and the cases for which each is best."""
    rows = [
        f"| [{one.name}](#{one.name}) | {cell(one.card['Rounds'])} | {cell(one.card['Fits'])} | {cell(one.card['Best'])} |"
        for one in algorithms
    ]
    return "\n".join(["| algorithm | rounds | fits | best for |", "|---|---|---|---|", *rows])


def file_name(operation: str) -> str:
    """File name of the page of an operation."""
    return f"{operation.replace(':', '_')}.md"


def card(algorithm: Any) -> str:
    """The section of an algorithm: the text of its docstring, its claims as a table, and how to find it in Python."""
    function = getattr(algorithm.run, "func", algorithm.run)
    text = inspect.getdoc(sys.modules[function.__module__]) or ""
    first, _, rest = text.partition("\n")
    idea = re.split(r"^Rounds ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip("\n")
    rows = [f"| {label} | {cell(words)} |" for label, words in algorithm.card.items()]
    words = [
        f"{name}={getattr(value, 'name', getattr(value, '__name__', value))}" for name, value in algorithm.parameters.items()
    ]
    rows += [f"| Parameters | {code(', '.join(words))} |"] * bool(words)
    kind = "" if algorithm.kind in ("intra", algorithm.operation) else f', kind="{algorithm.kind}"'
    call = f'collectives.find("{algorithm.operation}", "{algorithm.name}"{kind})'
    shown = "".join(f"{paragraph(part)}\n\n" for part in re.split(r"\n\s*\n", idea) if part.strip())
    table = "\n".join(["| | |", "|---|---|", f"| In Python | {code(call)} |", *rows])
    return f"## {algorithm.name}\n\n{cell(first)}\n\n{shown}{table}"


def paragraph(text: str) -> str:
    """A paragraph as text, or as a code block if it is indented."""
    return f"```text\n{inspect.cleandoc(text)}\n```" if text.startswith("    ") else cell(text)


def mpi() -> str:
    """The page of the namespace `MPI`: functions, classes with their methods, constants."""
    from fakempi import MPI

    things = {
        name: getattr(MPI, name) for name in dir(MPI) if not name.startswith("_") and name not in ("annotations", "Any")
    }
    classes = {name: thing for name, thing in things.items() if inspect.isclass(thing)}
    functions = {name: thing for name, thing in things.items() if inspect.isfunction(thing)}
    kinds: dict[str, list[str]] = {}
    for name, thing in things.items():
        if name not in classes and name not in functions:
            kinds.setdefault(type(thing).__name__.lstrip("_"), []).append(name)
    shown = examples()
    parts = [
        "# The namespace MPI",
        "This page lists the names of `from fakempi import MPI` or, in `fakempi run`, `from mpi4py import MPI`. Names, "
        "arguments and defaults are those of mpi4py; a difference is a bug, or is listed in "
        "[conformance](../conformance.md). Inherited methods are listed with the class that defines them. There is one "
        "example for each family of calls.",
        shown["(all)"],
        "## Functions",
        calls(functions),
    ]
    for name, thing in classes.items():
        own = {one: value for one, value in calls_of(thing, classes).items() if (inspect.getdoc(value) or "").strip()}
        first = cell((inspect.getdoc(thing) or "").split("\n\n")[0])
        parts += [f"## {name}", first, *([shown[name]] if name in shown else []), *([calls(own)] if own else [])]
    parts += ["## Constants", *(f"**{kind}**: {', '.join(f'`{name}`' for name in names)}" for kind, names in kinds.items())]
    return "\n\n".join(parts) + "\n"


def examples() -> dict[str, str]:
    """Examples by class of the namespace MPI; the section "(all)" has the imports."""
    _, *sections = (ROOT / "docs" / "hooks" / "examples.txt").read_text(encoding="utf-8").split("\n## ")
    return {name: text.strip() for name, _, text in (section.partition("\n") for section in sections)}


def calls_of(thing: type, classes: dict[str, Any]) -> dict[str, Any]:
    """The methods of a class that it does not inherit from another class of the namespace."""
    above = {one for base in thing.__mro__[1:] if base in classes.values() for one in vars(base) | all_of(base)}
    return {name: value for name, value in all_of(thing).items() if name not in above and not name.startswith("_")}


def all_of(thing: type) -> dict[str, Any]:
    """Methods and properties of a class and of its bases in fakempi."""
    found: dict[str, Any] = {}
    for base in reversed([one for one in thing.__mro__ if one.__module__.startswith("fakempi")]):
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(plain) or isinstance(plain, property):
                found[name] = plain
    return found


def calls(things: dict[str, Any]) -> str:
    """A table of signatures and descriptions."""
    rows = [
        f"| {code(signature(name, thing))} | {cell((inspect.getdoc(thing) or '').split(chr(10) * 2)[0])} |"
        for name, thing in sorted(things.items())
    ]
    return "\n".join(["| call | description |", "|---|---|", *rows])


class Shown(str):
    """A default value that is shown as this text: an object without a value has an address, which differs between builds."""

    def __repr__(self) -> str:
        return str(self)


def signature(name: str, thing: Any) -> str:
    """Parameters and defaults, without annotations."""
    if isinstance(thing, property):
        return name
    found = inspect.signature(thing)
    plain = [
        one.replace(annotation=inspect.Parameter.empty, default=Shown("...") if type(one.default) is object else one.default)
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    return f"{name}{inspect.Signature(plain)}"


def demos() -> dict[str, str]:
    """A page for each demo with its description, its output and its program, after an index page."""
    pages: dict[str, str] = {}
    rows: list[str] = []
    for path in sorted((ROOT / "demos").glob("[0-9][0-9]_*.py")):
        text = path.read_text(encoding="utf-8")
        doc = ast.get_docstring(ast.parse(text)) or ""
        first = doc.partition("\n")[0]
        printed = path.with_suffix(".out").read_text(encoding="utf-8").rstrip()
        title = path.stem[3:].replace("_", " ")
        rows.append(f"| [{path.stem[:2]} {title}]({path.stem}.md) | {cell(first)} |")
        pages[f"demos/{path.stem}.md"] = (
            f"# {path.stem[:2]} {title}\n\n{first}\n\n```sh\npython demos/{path.name}\n```\n\n"
            f"## Output\n\n```text\n{printed}\n```\n\n"
            f'## Program\n\n```py title="{path.name}"\n{text.rstrip()}\n```\n'
        )
    words = (
        "Each of these programs shows one thing. Read them in this order: errors (1 to 5), scripts and timelines (6 to 9), "
        "algorithms (10 to 12), larger programs (13 to 15), machines (16 and 17) and papers (18 to 24). Run them in a copy "
        "of the repository. Each takes less than 20 seconds of CPU time, and a test compares its output with the one shown."
    )
    more = (
        "There are also two notebooks: [cells on ranks](../notebook.md) and "
        "[figures](../files/demos/figures.ipynb.md). `fakempi tour` needs no copy of the repository."
    )
    table = ["| demo | description |", "|---|---|", *rows]
    pages["demos/index.md"] = "\n".join(["# Demos", "", words, "", *table, "", more, ""])
    return pages
