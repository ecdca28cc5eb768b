"""Run the check of an exercise on a copy of the student's file, in a separate process."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakempi.apps.course.course import Exercise
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.trial import Trial, Wrong
from fakempi.apps.course.worker_process import Worker, WorkerGone

MAX_BYTES = 1_000_000
"""Upper limit of the size of a student's file."""


@dataclass(frozen=True)
class CheckResult:
    """The result of a check.

    Attributes
    ----------
    exercise : the exercise
    passed : whether the solution is correct
    sentence : a description of the error
    kind : the kind of error: deadlock, time, result, a kind of finding, ...
    report, picture, printed : details: the emulator's report, a timeline, the program's output
    cases : the number of runs
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
        """Return the verdict as plain values, for JSON."""
        exercise = self.exercise
        return {
            "number": exercise.number, "name": exercise.name, "title": exercise.title, "part": exercise.part,
            "passed": self.passed, "kind": self.kind, "sentence": self.sentence, "report": self.report, "cases": self.cases,
        }  # fmt: skip


def judge(
    exercise: Exercise, file: Path, limits: CheckLimits | None = None, width: int = 76, apart: bool = True
) -> CheckResult:
    """Check a file. `apart=False` runs it in this process, which is faster and without limits, for trusted files."""
    try:
        text = _text(file)
    except (OSError, ValueError) as error:
        return CheckResult(exercise, False, f"{file.name} cannot be read: {error}.", "missing")
    limits = limits or CheckLimits()
    with TemporaryDirectory(prefix="fakempi_learn_", ignore_cleanup_errors=True) as directory:
        copy = Path(directory, exercise.file)
        copy.write_text(text, encoding="utf-8")
        if not apart:
            from fakempi.apps.course.in_process import InProcessRunner  # imported late, because it loads the emulator

            return _check_trial(exercise, Trial(text, InProcessRunner(copy), CheckLimits(inf), width))
        with Worker(copy, limits) as worker:
            try:
                worker.begin()
            except WorkerGone as gone:
                return _worker_gone(exercise, gone, 0)
            return _check_trial(exercise, Trial(text, worker, worker.limits, width))


def _text(file: Path) -> str:
    if not file.is_file():  # also rejects devices and pipes, which may never end
        raise OSError("there is no such file")
    if file.stat().st_size > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES:,} bytes")
    return file.read_text(encoding="utf-8")


def _check_trial(exercise: Exercise, trial: Trial) -> CheckResult:
    try:
        exercise.check(trial)
    except Wrong as wrong:
        return CheckResult(
            exercise, False, wrong.sentence, wrong.kind, wrong.report, wrong.picture, wrong.printed, trial.cases
        )  # fmt: skip
    except WorkerGone as gone:
        return _worker_gone(exercise, gone, trial.cases)
    except Exception as error:  # a check may fail on unexpected return values
        sentence = f"The check cannot process the program's return value: {type(error).__name__}: {error}."
        return CheckResult(exercise, False, sentence, "result", cases=trial.cases)
    return CheckResult(exercise, True, cases=trial.cases)


def _worker_gone(exercise: Exercise, error: WorkerGone, cases: int) -> CheckResult:
    reason = str(error)
    return CheckResult(exercise, False, f"{reason[0].upper()}{reason[1:]}", "gone", cases=cases)
