"""Define the options of `fakempi learn`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from fakempi.apps.cli.options.values import jobs, seconds

LEARN = """\
examples:
  fakempi learn                  copy the exercises to mpi_course, and check
                                 each whenever you save it
  fakempi learn course --list    list the exercises and your progress
  fakempi learn --check 3        check once; --check all for all exercises
  fakempi learn --hint 3         print a hint; repeat it for the next hint
  fakempi learn --reset 3        restore the file; yours is kept as .py.old
  fakempi learn --from more      add exercises: directories with the same
                                 structure
  fakempi learn --grade students > table.csv
  fakempi learn --grade students --weights 2=1,3=2 --format gradebook
                                 --feedback feedback > gradebook.csv

The default directory is the current one if it contains exercises, otherwise
mpi_course. Files that you have edited are not overwritten. Without a terminal,
the command copies the exercises and ends. Keys on a terminal: r run,
t timeline, h hint, s solution (after a pass or three failed tries), c check,
n next, b back, l list, q quit. Programs run in a separate process with limits.

exit code: 0 if the exercise passes, 1 if not, 2 for a usage error.
"""

FORMATS = ("csv", "gradebook", "gradescope", "prairielearn", "json")

USAGE = "fakempi learn [--list | --check N | --hint N | --reset N] [options] [DIR]\n       fakempi learn --grade DIR ..."


def add_learn(learn: ArgumentParser) -> None:
    """Add the options to a parser."""
    learn.usage = USAGE
    learn.add_argument("directory", nargs="?", metavar="DIR", help="directory of exercises (default mpi_course)")
    action = learn.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="list the exercises, and which are done")
    action.add_argument("--check", metavar="N", help="check an exercise, by number or name, or all")
    action.add_argument("--hint", metavar="N", help="print a hint; repeat it for the next hint")
    action.add_argument("--reset", metavar="N", help="restore the original file")
    action.add_argument("--solution", metavar="N", help="print a solution")
    action.add_argument("--teacher", metavar="N", help="print the note for teachers")
    action.add_argument("--grade", metavar="DIR", nargs="+", help="grade students' directories, or one that contains them")
    learn.add_argument("--weights", metavar="W", help="points of the exercises to grade: 1=2,3=0.5, or a file")
    learn.add_argument("--feedback", metavar="DIR", help="with --grade: write a file and timelines for each student to DIR")
    learn.add_argument("--format", choices=FORMATS, default="csv", help=f"with --grade: {', '.join(FORMATS)} (default csv)")
    learn.add_argument("--json", action="store_true", help="print the results of --check, --list and --grade as JSON")
    learn.add_argument("--from", dest="more", metavar="DIR", action="append", default=[], help="add the exercises in DIR")
    learn.add_argument("--seconds", type=seconds, metavar="S", default=10.0, help="CPU time limit of a check (default 10)")
    learn.add_argument("--memory", type=_megabytes, metavar="MIB", default=4096, help="memory limit (default 4096)")
    learn.add_argument("--jobs", type=jobs, metavar="N", help="parallel checks of --grade (default: one per core)")


def _megabytes(text: str) -> int:
    if not text.isdecimal() or not 256 <= int(text) <= 2**20:
        raise ArgumentTypeError(f"{text} is not a number of MiB from 256 to 1048576")
    return int(text)
