"""`fakempi learn`: set up, list, check, hint, reset, solution, grade; watching is next door."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fakempi.cli.console import console
from fakempi.cli.explaining import print_page
from fakempi.cli.learn_screen import MARKS, WIDEST_PICTURE, bar, verdict_lines
from fakempi.cli.learn_watching import Watcher
from fakempi.learn.course import Course, Exercise
from fakempi.learn.folder import Folder, here
from fakempi.learn.grading import grade, write_csv
from fakempi.learn.judge import Verdict, judge
from fakempi.learn.limits import Limits, missing

HOLDS, FAILS = 0, 1


def learn(options: Namespace) -> int:
    """Do what is asked; returns the exit code."""
    out = console()
    out.width = min(out.width, WIDEST_PICTURE)
    limits = Limits(options.seconds, options.memory)
    more = [Path(name) for name in options.more]
    if options.grade:
        return _grade(options, Course(more), limits)
    folder = Folder(here(options.directory), more)
    find = folder.course.find
    if options.list:
        return _list(out, folder, options.json)
    if options.check:
        chosen = list(folder.course) if options.check == "all" else [find(options.check)]
        return _check(out, folder, chosen, limits, options)
    if options.hint:
        return _hint(out, folder, find(options.hint))
    if options.reset:
        return _reset(out, folder, find(options.reset))
    if options.solution:
        sys.stdout.write(find(options.solution).solution)
        return HOLDS
    if options.teacher:
        print_page(out, find(options.teacher).note)
        return HOLDS
    return _begin(out, folder, limits)


def _begin(out: Console, folder: Folder, limits: Limits) -> int:
    """Put the files there; then, on a terminal, watch them."""
    new = folder.set_up()
    if out.is_terminal and sys.stdin.isatty():
        return Watcher(console(), folder, limits).watch()  # whose width follows the terminal's
    there = f"{new} exercise{'s' * (new != 1)} put into" if new else "nothing new for"
    out.print(f"{there} {folder.path}; fakempi learn {folder.path} --check 1 checks the first.", soft_wrap=True)
    return HOLDS


def _list(out: Console, folder: Folder, as_json: bool) -> int:
    """By part, each with its mark. What counts as passed is what the last check here has said."""
    if as_json:
        records = [
            {
                "number": one.number, "name": one.name, "title": one.title, "part": one.part,
                "file": str(folder.file(one)), "state": folder.state(one),
            }
            for one in folder.course
        ]  # fmt: skip
        sys.stdout.write(json.dumps(records, indent=1) + "\n")
        return HOLDS
    for part, exercises in folder.course.parts().items():
        out.print(Text(part, "bold"))
        for one in exercises:
            mark, style = MARKS[folder.state(one)]
            out.print(Text.assemble((f"  {mark} ", style), f"{one.number:02} {one.title}"))
        out.print()
    out.print(bar(folder.passed(), len(folder.course), min(out.width, 80)))
    return HOLDS


def _check(out: Console, folder: Folder, chosen: list[Exercise], limits: Limits, options: Namespace) -> int:
    verdicts: list[Verdict] = []
    for exercise in chosen:
        verdict = judge(exercise, folder.there(exercise), limits, width=out.width)
        folder.note(exercise, verdict.passed)
        verdicts.append(verdict)
        if not options.json:
            for line in verdict_lines(verdict, out.width, alone=len(chosen) == 1):
                out.print(line, soft_wrap=True)
    if options.json:
        records = [verdict.as_record() for verdict in verdicts]
        sys.stdout.write(json.dumps(records if options.check == "all" else records[0], indent=1) + "\n")
    return HOLDS if all(verdict.passed for verdict in verdicts) else FAILS


def _hint(out: Console, folder: Folder, exercise: Exercise) -> int:
    number, text = folder.hint(exercise)
    out.print(Text(f"{exercise.number:02} {exercise.title}: hint {number} of {len(exercise.hints)}", "bold"))
    print_page(out, text)
    return HOLDS


def _reset(out: Console, folder: Folder, exercise: Exercise) -> int:
    kept = folder.reset(exercise)
    yours = f"; yours is kept as {kept}" if kept else ""
    out.print(f"{folder.file(exercise)} is as it was at first{yours}.", soft_wrap=True)
    return HOLDS


def _grade(options: Namespace, course: Course, limits: Limits) -> int:
    """The table on standard output; how far it is, on a terminal, beside it."""
    if missing():
        sys.stderr.write(f"fakempi learn: {missing()}\n")

    def tell(folder: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{folder} ...\n")

    rows = grade(options.grade, course, limits, options.jobs, tell)
    if options.json:
        sys.stdout.write(json.dumps([row.as_record() for row in rows], indent=1) + "\n")
    else:
        write_csv(rows, course, sys.stdout)
    return HOLDS
