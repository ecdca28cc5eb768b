"""The actions of `fakempi learn`: set up, list, check, hint, reset, solution, teacher, grade. `learn_loop` watches files."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fakempi.apps.cli.console import console
from fakempi.apps.cli.explaining import print_markdown
from fakempi.apps.cli.learn.grading import grade_students
from fakempi.apps.cli.learn.loop import Watcher
from fakempi.apps.cli.learn.screen import MARKS, WIDEST_PICTURE, bar, verdict_lines
from fakempi.apps.course.course import Course, Exercise
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.student_directory import StudentDirectory, directory_path
from fakempi.errors.plurals import counted

PASSED, FAILED = 0, 1


def learn(options: Namespace) -> int:
    """Run the requested action; return the exit code."""
    out = console()
    out.width = min(out.width, WIDEST_PICTURE)
    limits = CheckLimits(options.seconds, options.memory)
    more = [Path(name) for name in options.more]
    if options.grade:
        return grade_students(options, Course(more), limits)
    directory = StudentDirectory(directory_path(options.directory), more)
    find = directory.course.find
    if options.list:
        return _list(out, directory, options.json)
    if options.check:
        chosen = list(directory.course) if options.check == "all" else [find(options.check)]
        return _check(out, directory, chosen, limits, options)
    if options.hint:
        return _hint(out, directory, find(options.hint))
    if options.reset:
        return _reset(out, directory, find(options.reset))
    if options.solution:
        sys.stdout.write(find(options.solution).solution)
        return PASSED
    if options.teacher:
        print_markdown(out, find(options.teacher).note)
        return PASSED
    return _begin(out, directory, limits)


def _begin(out: Console, directory: StudentDirectory, limits: CheckLimits) -> int:
    """Copy the exercises; then, on a terminal, watch the files."""
    new = directory.set_up()
    if out.is_terminal and sys.stdin.isatty():
        return Watcher(console(), directory, limits).watch()  # its width follows the terminal's
    if directory.renamed:
        out.print(f"renamed {counted(directory.renamed, 'file')}: exercises have other numbers than before", soft_wrap=True)
    copied = f"copied {counted(new, 'exercise')} to" if new else "no new exercises for"
    out.print(f"{copied} {directory.path}; check the first with fakempi learn {directory.path} --check 1", soft_wrap=True)
    return PASSED


def _list(out: Console, directory: StudentDirectory, as_json: bool) -> int:
    """Print the exercises by part, each with the result of its last check in this directory; return the exit code."""
    if as_json:
        records = [
            {
                "number": exercise.number, "name": exercise.name, "title": exercise.title, "part": exercise.part,
                "file": str(directory.file(exercise)), "state": directory.state(exercise),
            }
            for exercise in directory.course
        ]  # fmt: skip
        sys.stdout.write(json.dumps(records, indent=1) + "\n")
        return PASSED
    for part, exercises in directory.course.parts().items():
        out.print(Text(part, "bold"))
        for exercise in exercises:
            mark, style = MARKS[directory.state(exercise)]
            out.print(Text.assemble((f"  {mark} ", style), f"{exercise.number:02} {exercise.title}"))
        out.print()
    out.print(bar(directory.passed(), len(directory.course), min(out.width, 80)))
    return PASSED


def _check(
    out: Console, directory: StudentDirectory, chosen: list[Exercise], limits: CheckLimits, options: Namespace
) -> int:
    verdicts: list[CheckResult] = []
    for exercise in chosen:
        verdict = judge(exercise, directory.existing_file(exercise), limits, width=out.width)
        directory.note(exercise, verdict.passed)
        verdicts.append(verdict)
        if not options.json:
            for line in verdict_lines(verdict, out.width, alone=len(chosen) == 1):
                out.print(line, soft_wrap=True)
    if options.json:
        records = [verdict.as_record() for verdict in verdicts]
        sys.stdout.write(json.dumps(records if options.check == "all" else records[0], indent=1) + "\n")
    return PASSED if all(verdict.passed for verdict in verdicts) else FAILED


def _hint(out: Console, directory: StudentDirectory, exercise: Exercise) -> int:
    number, text = directory.hint(exercise)
    out.print(Text(f"{exercise.number:02} {exercise.title}: hint {number} of {len(exercise.hints)}", "bold"))
    print_markdown(out, text)
    return PASSED


def _reset(out: Console, directory: StudentDirectory, exercise: Exercise) -> int:
    kept = directory.reset(exercise)
    backup = f"; your version was saved as {kept}" if kept else ""
    out.print(f"{directory.file(exercise)} is restored{backup}.", soft_wrap=True)
    return PASSED
