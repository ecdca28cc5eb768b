"""A parser of argparse that reports what is wrong in one sentence."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from fakempi.errors.similar import get_close_matches

REQUIRED = "the following arguments are required: "
"""The beginning of argparse's message."""


class CommandParser(ArgumentParser):
    """A parser that reports an unknown command or option in a sentence, with a similar one if there is one."""

    commands: Mapping[str, ArgumentParser] = MappingProxyType({})
    takes_cost_model = False  # its help ends with the cost models

    def format_help(self) -> str:
        """Return the help, with the cost models if the command takes one."""
        if self.takes_cost_model:
            from fakempi.apps.cli.options.cost_models import cost_models  # imports numpy

            self.epilog, self.takes_cost_model = f"{self.epilog}{cost_models()}", False
        return super().format_help()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the options; exit with code 2 if a command or an option is unknown."""
        words = list(args or ())
        if self.commands and words and not words[0].startswith("-") and words[0] not in self.commands:
            self.exit(2, f"fakempi: {self.no_command(words[0])}\n")
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command: ArgumentParser = options.parser
            hint = _similar(unknown[0], re.findall(r"(?<!\S)--[a-z-]+", command.format_help().replace(",", " ")))
            hint = hint or f"; for the options, run: {command.prog} --help"
            what = "is not an option" if unknown[0].startswith("-") else "is one argument too many"
            self.exit(2, f"{command.prog}: {unknown[0]!r} {what}{hint}\n")
        return options

    def no_command(self, word: str) -> str:
        """Return the sentence about an unknown command."""
        hint = _similar(word, self.commands) or f"; the commands are {', '.join(self.commands)}."
        return f"there is no command {word!r}{hint}"

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 and one line: what is missing, with an example, or what is wrong."""
        missing = message.removeprefix(REQUIRED)
        if missing == message:
            self.exit(2, f"{self.prog}: {message.removeprefix('argument ')}; for the options, run: {self.prog} --help\n")
        example = re.search(rf"^  ({self.prog} \S.*?)(?:   .*)?$", self.epilog or "", re.MULTILINE)
        hint = f", for example: {example[1]}" if example else f"; for the options, run: {self.prog} --help"
        names = missing.replace("-n/-np", "-n N")
        self.exit(2, f"{self.prog}: {names} {'are' if ', ' in names else 'is'} missing{hint}\n")


def _similar(word: str, known: Collection[str]) -> str:
    found = get_close_matches(word, known, 1) or [each for each in known if each.endswith(word.lstrip("-"))]
    return f"; did you mean {found[0]}?" if found else ""
