"""Whether an exercise is done: its check, on a copy of the student's file, in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakempi.learn.course import Exercise
from fakempi.learn.limits import Limits
from fakempi.learn.process import Gone, Worker
from fakempi.learn.trial import Trial, Wrong

MOST_BYTES = 1_000_000
"""Of a student's file."""


@dataclass(frozen=True)
class Verdict:
    """What became of a check.

    Attributes
    ----------
    exercise : which
    passed : whether all of it holds
    sentence : what does not
    kind : of what is wrong: deadlock, time, result, a kind of finding, ...
    report, picture, printed : more of it, for people: the emulator's words, a timeline, what the program printed
    cases : runs that were made
    """

    exercise: Exercise
    passed: bool
    sentence: str = ""
    kind: str = ""
    report: str = ""
    picture: str = ""
    printed: str = ""
    cases: int = 0

    def as_record(self) -> dict[str, Any]:
        """The same in plain values, for JSON."""
        one = self.exercise
        return {
            "number": one.number, "name": one.name, "title": one.title, "part": one.part, "passed": self.passed,
            "kind": self.kind, "sentence": self.sentence, "report": self.report, "cases": self.cases,
        }  # fmt: skip


def judge(exercise: Exercise, file: Path, limits: Limits | None = None, width: int = 76, apart: bool = True) -> Verdict:
    """Check a file. `apart=False` runs it in this process, which is quicker and has no limits, for files that one trusts."""
    try:
        text = _text(file)
    except (OSError, ValueError) as error:
        return Verdict(exercise, False, f"{file.name} cannot be read: {error}.", "missing")
    limits = limits or Limits()
    with TemporaryDirectory(prefix="fakempi_learn_", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, exercise.file)
        copy.write_text(text, encoding="utf-8")
        if not apart:
            from fakempi.learn.inside import Inside  # not before it is needed: it brings the emulator

            return _tried(exercise, Trial(text, Inside(copy), Limits(inf), width))
        with Worker(copy, limits) as worker:
            try:
                worker.begin()
            except Gone as gone:
                return _gone(exercise, gone, 0)
            return _tried(exercise, Trial(text, worker, worker.limits, width))


def _text(file: Path) -> str:
    if not file.is_file():  # nor what only looks like one, and never ends
        raise OSError("there is no such file")
    if file.stat().st_size > MOST_BYTES:
        raise OSError(f"it has more than {MOST_BYTES:,} bytes")
    return file.read_text(encoding="utf-8")


def _tried(exercise: Exercise, trial: Trial) -> Verdict:
    try:
        exercise.check(trial)
    except Wrong as wrong:
        return Verdict(
            exercise, False, wrong.sentence, wrong.kind, wrong.report, wrong.picture, wrong.printed, trial.cases
        )  # fmt: skip
    except Gone as gone:
        return _gone(exercise, gone, trial.cases)
    except Exception as error:  # of what a program returns, a check may make no sense
        words = f"The check cannot make sense of what the program returns: {type(error).__name__}: {error}."
        return Verdict(exercise, False, words, "result", cases=trial.cases)
    return Verdict(exercise, True, cases=trial.cases)


def _gone(exercise: Exercise, gone: Gone, cases: int) -> Verdict:
    words = str(gone)
    return Verdict(exercise, False, f"{words[0].upper()}{words[1:]}", "gone", cases=cases)
