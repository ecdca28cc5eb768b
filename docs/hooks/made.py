"""Pages made from the code: the command line from its parser, cards from the catalogue, names of MPI, findings, demos."""

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
    """A text that fits into a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def code(text: object) -> str:
    """A text as code in a table."""
    return f"`{' '.join(str(text).split())}`".replace("|", "\\|")


def command_line() -> str:
    """Every command with its usage, its options and its examples."""
    from fakempi.cli.parser import make_parser

    parser = make_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = [
        "# The command line",
        "Made from the parser: what `fakempi COMMAND --help` says. `python -m fakempi` is the same command.",
        *(part for name, one in commands.choices.items() for part in command(name, one)),
    ]
    return "\n\n".join(parts) + "\n"


def command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """A command's part of the page."""
    yield f"## fakempi {name}"
    yield parser.description or ""
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    yield f"```text\n{re.sub(r'^ {7}', '', usage, flags=re.MULTILINE)}\n```"
    rows = [option(action) for action in parser._actions if action.help not in (None, argparse.SUPPRESS)]
    rows = [row for row in rows if not row.startswith("| `-h`")]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])
    if parser.epilog:
        yield f"```text\n{parser.epilog.rstrip()}\n```"


def option(action: argparse.Action) -> str:
    """A row: what is typed, and what it does."""
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    value = "" if action.nargs == 0 else str(action.metavar or choices or action.dest.upper())
    typed = [code(f"{one} {value}".strip()) for one in action.option_strings] or [code(action.metavar or action.dest)]
    return f"| {', '.join(typed)} | {cell((action.help or '').replace('%%', '%'))} |"


def findings() -> dict[str, str]:
    """The page of each kind, as `fakempi explain` has it."""
    from fakempi.checks.explain import explanation
    from fakempi.checks.findings import KINDS

    return {f"findings/{kind}.md": explanation(kind) for kind in KINDS}


def catalogue() -> dict[str, str]:
    """A page for each operation, with the cards of its algorithms; the first is the list of all."""
    from collectives.ours import ours
    from fakempi.cli.listing import LEGEND, typed_name

    pages: dict[str, list[Any]] = {}
    for algorithm in ours():
        pages.setdefault(typed_name(algorithm), []).append(algorithm)
    names = sorted(pages, key=lambda name: (":" in name, name))
    links = {name: [f"[{one.name}]({file_name(name)}#{one.name})" for one in pages[name]] for name in names}
    rows = [f"| [{name}]({file_name(name)}) | {', '.join(links[name])} |" for name in names]
    intro = (
        "The algorithms that fakempi comes with. Cards are their files' own words, and the tests hold every algorithm to "
        "its card. `fakempi list` shows them in a terminal, with those of installed packages."
    )
    top = "\n".join(
        [
            "# The catalogue",
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
    made = {"catalogue/index.md": top + "\n"}
    for name in names:
        cards = "\n\n".join(card(algorithm) for algorithm in pages[name])
        made[f"catalogue/{file_name(name)}"] = f"# {name}\n\n{cards}\n"
    return made


def file_name(operation: str) -> str:
    """The page of an operation as it is typed."""
    return f"{operation.replace(':', '_')}.md"


def card(algorithm: Any) -> str:
    """An algorithm: its idea and picture as they stand in its file, its claims in a table, and how it is called."""
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
    table = "\n".join(["| | |", "|---|---|", f"| Found by | {code(call)} |", *rows])
    return f"## {algorithm.name}\n\n{cell(first)}\n\n{shown}{table}"


def paragraph(text: str) -> str:
    """Words as words, and what is drawn as it stands."""
    return f"```text\n{inspect.cleandoc(text)}\n```" if text.startswith("    ") else cell(text)


def mpi() -> str:
    """The namespace `MPI`: its functions, its classes with their calls, its constants."""
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
        "`from fakempi import MPI`, or, in `fakempi run`, `from mpi4py import MPI`. Names, arguments and defaults "
        "are mpi4py's; where the two differ, that is a bug here, or told in [conformance](../conformance.md). Calls that a "
        "class inherits are with the class that they come from. Examples are of families of calls.",
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
    """By class of the namespace MPI: examples of its families of calls; before them, what they import."""
    _, *sections = (ROOT / "docs" / "hooks" / "examples.txt").read_text(encoding="utf-8").split("\n## ")
    return {name: text.strip() for name, _, text in (section.partition("\n") for section in sections)}


def calls_of(thing: type, classes: dict[str, Any]) -> dict[str, Any]:
    """The methods of a class that no other class of the namespace has before it."""
    above = {one for base in thing.__mro__[1:] if base in classes.values() for one in vars(base) | all_of(base)}
    return {name: value for name, value in all_of(thing).items() if name not in above and not name.startswith("_")}


def all_of(thing: type) -> dict[str, Any]:
    """Methods and properties of a class, those of its unnamed bases too."""
    found: dict[str, Any] = {}
    for base in reversed([one for one in thing.__mro__ if one.__module__.startswith("fakempi")]):
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(plain) or isinstance(plain, property):
                found[name] = plain
    return found


def calls(things: dict[str, Any]) -> str:
    """A table: how each is called, and what it does."""
    rows = [
        f"| {code(signature(name, thing))} | {cell((inspect.getdoc(thing) or '').split(chr(10) * 2)[0])} |"
        for name, thing in sorted(things.items())
    ]
    return "\n".join(["| | |", "|---|---|", *rows])


def signature(name: str, thing: Any) -> str:
    """Parameters and defaults, without annotations."""
    if isinstance(thing, property):
        return name
    found = inspect.signature(thing)
    plain = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    return f"{name}{inspect.Signature(plain)}"


def demos() -> dict[str, str]:
    """A page for each demo: what it is, its text, and what it prints; the first is the list of all."""
    made: dict[str, str] = {}
    rows: list[str] = []
    for path in sorted((ROOT / "demos").glob("[0-9][0-9]_*.py")):
        text = path.read_text(encoding="utf-8")
        doc = ast.get_docstring(ast.parse(text)) or ""
        first = doc.partition("\n")[0]
        printed = path.with_suffix(".out").read_text(encoding="utf-8").rstrip()
        quick = " --quick" if "--quick" in text else ""
        title = path.stem[3:].replace("_", " ")
        rows.append(f"| [{path.stem[:2]} {title}]({path.stem}.md) | {cell(first)} |")
        made[f"demos/{path.stem}.md"] = (
            f"# {path.stem[:2]} {title}\n\n{first}\n\n```sh\npython demos/{path.name}{quick}\n```\n\n"
            f"## What it prints\n\n```text\n{printed}\n```\n\n"
            f'## The program\n\n```py title="{path.name}"\n{text.rstrip()}\n```\n'
        )
    words = "Pages to read, in this order, and to run, from a copy of the repository. Each prints what is shown: a test."
    more = "There is a [notebook](../files/demos/notebook.ipynb.md), too. `fakempi tour` needs no copy of the repository."
    made["demos/index.md"] = "\n".join(["# Demos", "", words, "", "| demo | |", "|---|---|", *rows, "", more, ""])
    return made
