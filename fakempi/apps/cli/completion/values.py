"""The names that an option or an argument takes."""

from __future__ import annotations

import inspect
from argparse import Action, ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from fakempi.apps.cli.parser import make_parser

Candidate = tuple[str, str]
"""A word, and what it means. A word that ends in `=`, `:`, `,` or `/` continues."""

FILES = (":files", "")
"""In place of the files in a directory, which the shell knows how to complete."""


class TypedValue(NamedTuple):
    """A value that is being typed."""

    command: str
    action: Action
    text: str
    arguments: list[str]  # positional ones before it


Values = Callable[[TypedValue], Iterable[Candidate]]


def values(typed: TypedValue) -> Iterator[Candidate]:
    """Yield the values that begin with the typed text."""
    action = typed.action
    if action.choices is not None:
        found: Iterable[Candidate] = [(str(choice), "") for choice in action.choices]
    else:
        found = source(typed.command, action)(typed)
    yield from (each for each in found if each == FILES or each[0].startswith(typed.text))


def source(command: str, action: Action) -> Values:
    """Return the function that lists the values of an option; KeyError if nothing is known about it."""
    known = BY_NAME.get((command, action.dest))
    return known or BY_METAVAR[str(action.metavar)]


def _nothing(typed: TypedValue) -> Iterable[Candidate]:
    """Numbers, times and other texts without names."""
    return ()


def _files(typed: TypedValue) -> Iterable[Candidate]:
    return [FILES]


def commands(parser: ArgumentParser) -> Iterator[Candidate]:
    """Yield the commands with the texts that `fakempi --help` shows."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            yield from ((str(each.dest), each.help or "") for each in action._get_subactions())  # type: ignore[attr-defined]  # private


def _cost_models(typed: TypedValue) -> Iterator[Candidate]:
    """Yield names of models, and after a name the parameters of that model."""
    from fakempi.core.options import MODELS

    name, colon, given = typed.text.partition(":")
    if not colon:
        yield from ((model, _first_sentence(MODELS[model])) for model in MODELS)
        yield FILES
    elif name in MODELS:
        begin = f"{name}:{given[: given.rfind(',') + 1]}"
        for each in inspect.signature(MODELS[name]).parameters.values():
            parts = (".t_s", ".t_w") if each.name in ("intra", "inter", "files") else ("",)  # models in the model
            if each.kind is not inspect.Parameter.VAR_KEYWORD:
                yield from ((f"{begin}{each.name}{part}=", "") for part in parts)


def _first_sentence(item: object) -> str:
    return " ".join((inspect.getdoc(item) or "").split()).partition(". ")[0].removesuffix(".")


def _algorithms() -> dict[str, list[str]]:
    """Return the names of all algorithms by operation, as users type them."""
    from fakempi.apps.cli.listing import catalogue, typed_name

    found: dict[str, list[str]] = {}
    for algorithm in catalogue():
        found.setdefault(typed_name(algorithm), []).append(algorithm.name)
    return found


def _operations(typed: TypedValue) -> Iterator[Candidate]:
    yield from ((operation, "") for operation in _algorithms())
    yield FILES


def _operation_and_name(typed: TypedValue) -> Iterator[Candidate]:
    """Yield `operation/name` in two steps."""
    operation, slash, _ = typed.text.partition("/")
    known = _algorithms()
    yield from ((f"{each}/", "") for each in known if not slash)
    yield from ((f"{operation}/{name}", "") for name in known.get(operation, ()) if slash)
    yield FILES


def _requests(typed: TypedValue) -> Iterator[Candidate]:
    """Yield parts of `table,operation=name,...`."""
    from fakempi.tuning import TABLES

    begin, part = _last_part(typed.text)
    operation, equals, _ = part.partition("=")
    known = {each: names for each, names in _algorithms().items() if ":" not in each}
    if equals:
        yield from ((f"{begin}{operation}={name}", "") for name in known.get(operation, ()))
    else:
        yield from ((f"{begin}{table}", "a table") for table in TABLES)
        yield from ((f"{begin}{each}=", "") for each in known)


def _last_part(text: str) -> tuple[str, str]:
    """Split a list at its last comma."""
    return text[: text.rfind(",") + 1], text[text.rfind(",") + 1 :]


def _list_of(names: Callable[[TypedValue], Iterable[Candidate]]) -> Values:
    """Return the values of a list with commas."""

    def listed(typed: TypedValue) -> Iterator[Candidate]:
        begin, _ = _last_part(typed.text)
        yield from ((f"{begin}{name}", about) for name, about in names(typed) if (name, about) != FILES)

    return listed


def _of_this_operation(typed: TypedValue) -> Iterable[Candidate]:
    return [(name, "") for name in _algorithms().get("".join(typed.arguments[:1]), ())]


def _distributions(typed: TypedValue) -> Iterator[Candidate]:
    from collectives.distributions import DISTRIBUTIONS

    yield from ((name, _first_sentence(function)) for name, function in DISTRIBUTIONS.items())
    yield "all", "all of them"


def _kinds(typed: TypedValue) -> Iterable[Candidate]:
    """Rules of `fakempi lint`, and for `fakempi explain` kinds of findings, too."""
    from fakempi.apps.lint.rules.catalogue import TITLES
    from fakempi.core.reports.findings import KINDS

    return TITLES.items() if typed.command == "lint" else [*KINDS.items(), *TITLES.items()]


def _one_of(*names: str) -> Values:
    return lambda typed: [(name, "") for name in names]


BY_NAME: dict[tuple[str, str], Values] = {
    ("list", "operation"): _operations,
    ("compare", "operation"): _operations,
    ("compare", "algorithms"): _list_of(_of_this_operation),
    ("compare", "distribution"): _list_of(_distributions),
    ("tune", "operations"): _list_of(_operations),
    ("run", "algorithms"): _requests,
    ("check", "algorithms"): _requests,
    ("replay", "algorithms"): _requests,
    ("check", "compare"): _list_of(_one_of("output", "lines", "none", "across")),
    ("run", "findings"): _one_of("text", "json", "json:"),
    ("lint", "select"): _list_of(_kinds),
    ("lint", "ignore"): _list_of(_kinds),
    ("view", "what"): _list_of(lambda typed: [(name, "") for name in str(typed.action.help).split(", ")]),
    ("verify", "algorithm"): _operation_and_name,
    ("schedule", "source"): _operation_and_name,
    ("schedule", "operation"): _operations,
    ("watch", "command"): _files,
}
"""Values of an option, by command and name."""

BY_METAVAR: dict[str, Values] = {
    **dict.fromkeys(("FILE", "DIR", "TRACE", "script.py [arguments]", "None"), _files),
    **dict.fromkeys(("F", "FROM..TO", "K", "LIST", "MIB", "N", "NAME", "PAGE", "PATTERN", "PERCENT", "R"), _nothing),
    **dict.fromkeys(("R@K", "R@T", "RANK", "S", "SECONDS", "SIZE", "TOKEN", "TYPE", "W"), _nothing),
    "COMMAND": lambda typed: commands(make_parser()),
    "KIND": _kinds,
    "MODEL": _cost_models,
}
"""Values of all other options, by the word that `--help` shows for them."""
