"""Define the options of `fakempi completion` and `fakempi help`."""

from __future__ import annotations

from argparse import REMAINDER, SUPPRESS, ArgumentParser

COMPLETION = """\
examples:
  eval "$(fakempi completion bash)"              for this shell
  fakempi completion bash > ~/.local/share/bash-completion/completions/fakempi
  fakempi completion zsh > "${fpath[1]}/_fakempi"
  fakempi completion fish > ~/.config/fish/completions/fakempi.fish

Then Tab completes commands, options, cost models and their parameters,
operations, algorithms, kinds of findings, and files. The script runs fakempi
for the names, so it need not be saved again after an update.
"""

HELP = """\
examples:
  fakempi help            the commands
  fakempi help compare    the same as fakempi compare --help
"""


def add_completion(completion: ArgumentParser) -> None:
    """Add the options to a parser."""
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    completion.add_argument("--words", nargs=REMAINDER, help=SUPPRESS)  # called by the scripts; see main


def add_help(parser: ArgumentParser) -> None:
    """Add the argument to a parser."""
    parser.add_argument("topic", nargs="?", metavar="COMMAND", help="a command (default: all commands)")
