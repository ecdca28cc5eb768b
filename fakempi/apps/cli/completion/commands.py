"""`fakempi completion SHELL` and `fakempi help COMMAND`."""

from __future__ import annotations

import sys
from argparse import Namespace

from fakempi.apps.cli.completion.shells import SCRIPTS
from fakempi.apps.cli.parser import make_parser
from fakempi.core.options import usage_error


def print_script(options: Namespace) -> int:
    """Print the script for a shell; returns the exit code."""
    sys.stdout.write(SCRIPTS[options.shell])
    return 0


def print_help(options: Namespace) -> int:
    """Print the help of a command, or that of `fakempi`; returns the exit code."""
    parser, topic = make_parser(), options.topic
    if topic is not None and topic not in parser.commands:
        raise usage_error(parser.no_command(topic))
    (parser if topic is None else parser.commands[topic]).print_help()
    return 0
