"""What can be typed after `fakempi learn`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable

LEARN = """\
examples:
  fakempi learn                  puts the exercises into mpi_course, and checks
                                 each whenever you save it
  fakempi learn course --list    what there is, and how far you are
  fakempi learn --check 3        once; --check all for every exercise
  fakempi learn --hint 3         again for the next hint
  fakempi learn --reset 3        as it was at first; yours is kept as .py.old
  fakempi learn --from ours      with a class's own exercises: folders of the
                                 same shape
  fakempi learn --grade students/* > table.csv

Where no folder is named, it is the current one, if it is one, or mpi_course.
Files that you have edited are never overwritten. Without a terminal it puts
the folder there and ends.
Programs are run in a process of their own, with limits. The exit code is 0 if
an exercise holds, 1 if not, 2 for wrong use.
"""


def add_learn(learn: ArgumentParser, seconds: Callable[[str], float], count: Callable[[str], int]) -> None:
    """The options; what checks a number of seconds, and a count, is handed in."""
    learn.add_argument("directory", nargs="?", metavar="DIR", help="the folder of exercises (default mpi_course)")
    what = learn.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="the exercises, and which are done")
    what.add_argument("--check", metavar="N", help="check one, by number or name; all of them: all")
    what.add_argument("--hint", metavar="N", help="a hint; again for the next")
    what.add_argument("--reset", metavar="N", help="put the start file back")
    what.add_argument("--solution", metavar="N", help="print a file that passes")
    what.add_argument("--teacher", metavar="N", help="print the note for teachers")
    what.add_argument("--grade", metavar="FOLDER", nargs="+", help="check students' folders, and print a table as CSV")
    learn.add_argument("--json", action="store_true", help="results of --check, --list and --grade as JSON")
    learn.add_argument("--from", dest="more", metavar="FOLDER", action="append", default=[], help="further exercises")
    learn.add_argument("--seconds", type=seconds, metavar="S", default=10.0, help="for one check (default 10)")
    learn.add_argument("--memory", type=_megabytes, metavar="MIB", default=4096, help="for one check (default 4096)")
    learn.add_argument("--jobs", type=count, metavar="N", help="checks at a time, of --grade (default: one a core)")


def _megabytes(text: str) -> int:
    if not text.isdecimal() or not 256 <= int(text) <= 2**20:
        raise ArgumentTypeError(f"{text} is no number of MiB between 256 and 1048576")
    return int(text)
