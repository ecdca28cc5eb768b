"""Find what the last word of a command line can be, from the parsers of argparse: a command, an option, or a value."""

from __future__ import annotations

import sys
from argparse import ONE_OR_MORE, PARSER, REMAINDER, SUPPRESS, ZERO_OR_MORE, Action, ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fakempi.apps.cli.completion.values import Candidate, TypedValue, commands, values
from fakempi.apps.cli.parser import make_parser

MANY = (ONE_OR_MORE, ZERO_OR_MORE)
REST = (REMAINDER, PARSER)


class Walk(NamedTuple):
    """The words before the last one: the positional arguments, and the action that the last word is a value of."""

    arguments: list[str]
    action: Action | None


def complete(words: Sequence[str]) -> int:
    """Print the candidates for the last of the words after `fakempi`, each with a tab and its description."""
    for text, about in candidates(words or [""]):
        sys.stdout.write(f"{text}\t{about}\n")
    return 0


def candidates(words: Sequence[str]) -> Iterator[Candidate]:
    """Yield what the last word can be; an empty word can be anything."""
    parser: ArgumentParser = make_parser()
    name, last = words[0], words[-1]
    if len(words) > 1:
        command = subparsers(parser).get(name)
        if command is not None:
            yield from _of_command(name, command, words[1:-1], last)
    elif last.startswith("-"):
        yield from _options(parser, last)
    else:
        yield from _starting_with(last, commands(parser))


def subparsers(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Return the parsers of the commands."""
    return next(dict(action.choices) for action in parser._actions if isinstance(action.choices, dict))


def _of_command(name: str, command: ArgumentParser, before: Sequence[str], last: str) -> Iterator[Candidate]:
    walk = _walk(command, before)
    option, equals, value = last.partition("=")
    if walk.action is None and last.startswith("-"):
        action = command._option_string_actions.get(option)
        if not equals or action is None:
            yield from _options(command, last)
            return
        found = values(TypedValue(name, action, value, walk.arguments))
        yield from ((text if text.startswith(":") else f"{option}={text}", about) for text, about in found)
    elif (action := walk.action or _positional(command, len(walk.arguments))) is not None:
        yield from values(TypedValue(name, action, last, walk.arguments))


def _walk(command: ArgumentParser, words: Iterable[str]) -> Walk:
    """Follow the words as argparse does; the rest of the line after a script belongs to the script."""
    arguments: list[str] = []
    action: Action | None = None  # the option whose value comes next
    for word in words:
        if action is not None and not (action.nargs in MANY and word.startswith("-")):
            if action.nargs not in MANY:
                action = None
            continue
        action = None
        if word.startswith("-") and word != "-":
            found = command._option_string_actions.get(word)
            if found is not None and found.nargs in REST:
                return Walk(arguments, found)
            if found is not None and found.nargs != 0:
                action = found
        else:
            positional = _positional(command, len(arguments))
            if positional is not None and positional.nargs in REST:
                return Walk(arguments, positional)
            arguments.append(word)
    return Walk(arguments, action)


def _positional(command: ArgumentParser, number: int) -> Action | None:
    found = [action for action in command._actions if not action.option_strings]
    if found and number >= len(found) and found[-1].nargs in MANY:
        return found[-1]
    return found[number] if number < len(found) else None


def _options(parser: ArgumentParser, last: str) -> Iterator[Candidate]:
    for action in parser._actions:
        if action.help != SUPPRESS:
            yield from _starting_with(last, ((option, action.help or "") for option in action.option_strings))


def _starting_with(last: str, found: Iterable[Candidate]) -> Iterator[Candidate]:
    return ((text, about) for text, about in found if text.startswith(last))
