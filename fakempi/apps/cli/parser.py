"""Define the options of every command. A command's module is imported only when the command runs, so `--help` is fast.

For the same reason `fakempi COMMAND` defines the options of this command only.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import TypeAlias

from fakempi import __version__
from fakempi.apps.cli import help_texts as texts
from fakempi.apps.cli.command_parser import CommandParser
from fakempi.apps.cli.completion.options import COMPLETION, HELP, add_completion, add_help
from fakempi.apps.cli.options.learn import LEARN, add_learn
from fakempi.apps.cli.options.lint import LINT, add_lint
from fakempi.apps.cli.options.models import add_calibrate, add_compare, add_figure, add_tune, add_verify
from fakempi.apps.cli.options.scripts import add_check, add_run
from fakempi.apps.cli.options.watch import WATCH, add_watch
from fakempi.apps.cli.recordings.options import REPLAY, add_replay
from fakempi.apps.cli.schedules.options import SCHEDULE, add_schedule
from fakempi.core.gc_tuning import no_collections

VERSION = "print the version of fakempi (also -V), and exit"


def make_parser(only: str | None = None) -> CommandParser:
    """Return the parser of the command `fakempi`; with `only`, the other commands have no options."""
    description = "MPI programs without MPI: virtual ranks in one Python process, in modeled time."
    parser = CommandParser(
        "fakempi", description=description, epilog=texts.MAIN, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"fakempi {__version__}")
    # Without `prog`, argparse formats a help text to find it, for which it imports shutil.
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="command_name", prog=parser.prog
    )
    for name, function, add_options, help, epilog in COMMANDS:
        command: CommandParser = commands.add_parser(
            name, help=help, description=f"{help[0].upper()}{help[1:]}.", epilog=epilog,
            formatter_class=RawDescriptionHelpFormatter,
        )  # fmt: skip
        command.set_defaults(do=_lazy(*function.rsplit(".", 1)), parser=command)
        command.takes_cost_model = name in WITH_COST_MODEL
        if only in (None, name):
            add_options(command)
    parser.commands = commands.choices
    return parser


def _lazy(module: str, name: str) -> Callable[[Namespace], int]:
    """Return a function that imports a command's module and calls it."""

    def call(options: Namespace) -> int:
        path = f"fakempi.apps.cli.{module}"
        with nullcontext() if path in sys.modules else no_collections():
            function = getattr(import_module(path), name)
        return int(function(options))

    return call


def _add_version(mpirun: ArgumentParser) -> None:
    mpirun.add_argument("--version", action="version", version=f"mpiexec (fakempi) {__version__}", help=VERSION)


def _add_explain(explain: ArgumentParser) -> None:
    explain.add_argument("kind", nargs="?", metavar="KIND", help="message-lost, deadlock, ERR_ROOT, FM101, ...")


def _add_view(view: ArgumentParser) -> None:
    view.add_argument("files", nargs="+", metavar="FILE", help="a trace, or two traces to compare")
    view.add_argument("-i", "--interactive", action="store_true", help="browse it in the terminal; ? lists the keys")
    views = "summary, timeline, matrix, waits, critical, blocks, findings, end, replay"
    view.add_argument("--what", metavar="LIST", help=views)
    view.add_argument("--ranks", metavar="LIST", help="only these ranks: 0-7,12")
    view.add_argument("--window", metavar="FROM..TO", help="only this time: 20us..50us")
    view.add_argument("--width", type=int, metavar="N", help="columns (default: the terminal's)")
    view.add_argument("--height", type=int, metavar="N", help="rows of a timeline (default: fill the terminal)")
    view.add_argument("--by", choices=("state", "call"), default="state", help="color the timeline by state or by MPI call")
    view.add_argument("--no-pager", dest="pager", action="store_false", help="do not use a pager")
    view.add_argument("--svg", metavar="FILE", help="write an SVG figure")
    view.add_argument("--html", metavar="FILE", help="write one self-contained, interactive HTML file")
    add_figure(view)


def _add_list(lists: ArgumentParser) -> None:
    lists.add_argument("operation", nargs="?", help="an operation, such as allgather or inter:allgather, or a file")


def _add_tour(tour: ArgumentParser) -> None:
    tour.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages, by number")
    tour.add_argument("--list", action="store_true", help="list the titles")
    tour.add_argument("--fast", "--no-pause", action="store_true", help="do not pause")


Command: TypeAlias = tuple[str, str, Callable[[ArgumentParser], None], str, str]

COMMANDS: Sequence[Command] = (
    ("run", "rank_counts.run.run_script", add_run, "run an mpi4py script on virtual ranks", texts.RUN),
    ("mpirun", "rank_counts.run.run_script", _add_version, "run a script with the options of mpirun or mpiexec",
     texts.MPIRUN),
    ("check", "checking.check", add_check, "run a script in many or all schedules that MPI allows", texts.CHECK),
    ("lint", "linting.lint", add_lint, "find MPI mistakes in source files without running them", LINT),
    ("list", "listing.list_algorithms", _add_list, "list the algorithms and their claims", texts.LIST),
    ("view", "viewing.view", _add_view, "show a trace", texts.VIEW),
    ("compare", "comparing.compare", add_compare, "compare the algorithms of an operation", texts.COMPARE),
    ("calibrate", "machines.calibrating.calibrate", add_calibrate, "fit a cost model to a real machine",
     texts.CALIBRATE),
    ("tune", "tuning.write_rules", add_tune, "write the rules of Open MPI or MPICH for a machine",
     texts.TUNE),
    ("verify", "verifying.verify", add_verify, "check an algorithm's results and claims", texts.VERIFY),
    ("schedule", "schedules.commands.schedule", add_schedule, "schedules as data: GOAL, MSCCL, JSON", SCHEDULE),
    ("replay", "recordings.commands.replay_recording", add_replay, "replay a recorded run on another machine", REPLAY),
    ("watch", "real_mpi.watching.watch", add_watch, "run a command on a real MPI, and explain a hang", WATCH),
    ("explain", "explaining.explain", _add_explain, "explain a finding or an error, and how to fix it", texts.EXPLAIN),
    ("learn", "learning.learn", add_learn, "exercises that are checked when you save", LEARN),
    ("tour", "touring.tour", _add_tour, "a tour of the main features", texts.TOUR),
    ("completion", "completion.commands.print_script", add_completion,
     "complete commands, options and names in a shell", COMPLETION),
    ("help", "completion.commands.print_help", add_help, "show the options of a command", HELP),
)  # fmt: skip
"""Name, function, what defines the options, description, and text below the options."""

WITH_COST_MODEL = frozenset({"run", "compare", "tune", "schedule", "replay"})
"""Commands whose help ends with the cost models."""
