"""Run the check of an exercise on a copy of the student's file, in a separate process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakempi.apps.course.course import OURS, Exercise
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.mistakes import find_mistake
from fakempi.apps.course.trial import TestResult, Trial
from fakempi.apps.course.worker_job import WorkerJob
from fakempi.apps.course.worker_process import Worker, WorkerGone
from fakempi.apps.course.worker_start import NewProcesses, Starter
from fakempi.apps.course.wrong import Wrong

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
    ranks : the number of ranks of the failed run; 0 if it does not matter
    mistake : a sentence that names the mistake, if it is a typical one
    tests : all tests of the check, if it went on after failures; else up to the first failure
    """

    exercise: Exercise
    passed: bool
    sentence: str = ""
    kind: str = ""
    report: str = ""
    picture: str = ""
    printed: str = ""
    cases: int = 0
    ranks: int = 0
    mistake: str = ""
    tests: tuple[TestResult, ...] = ()

    @property
    def score(self) -> float:
        """The fraction of tests that passed: 1 if the solution is correct."""
        if self.passed:
            return 1.0
        return sum(test.passed for test in self.tests) / max(len(self.tests), 1)

    def as_record(self) -> dict[str, Any]:
        """Return the verdict as plain values, for JSON."""
        exercise = self.exercise
        return {
            "number": exercise.number, "name": exercise.name, "title": exercise.title, "part": exercise.part,
            "passed": self.passed, "kind": self.kind, "sentence": self.sentence, "report": self.report, "cases": self.cases,
            "mistake": self.mistake, "ranks": self.ranks, "score": self.score,
            "tests": [{"name": test.name, "passed": test.passed} for test in self.tests],
        }  # fmt: skip


def judge(
    exercise: Exercise,
    file: Path,
    limits: CheckLimits | None = None,
    width: int = 76,
    apart: bool = True,
    go_on: bool = False,
    starter: Starter | None = None,
    hidden: Sequence[Path] = (),
) -> CheckResult:
    """Check a file.

    `apart=False` runs it in this process, which is faster and without limits, for trusted files. `go_on` runs all tests, for
    partial credit. `starter` starts the process, and `hidden` are directories that the program may not read, in addition to
    the exercises with their solutions.
    """
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

            return _check_trial(exercise, Trial(text, InProcessRunner(copy), width, go_on))
        job = WorkerJob(copy, limits, (OURS, exercise.directory.parent, *hidden))
        with Worker(job, starter or NewProcesses()) as worker:
            trial = Trial(text, worker, width, go_on)
            try:
                worker.begin()
                result = _check_trial(exercise, trial)
                changed = "" if result.kind == "gone" else worker.changed()
            except WorkerGone as gone:
                return _worker_gone(exercise, gone, trial.cases)
            if changed:
                sentence = f"The program changes {changed}, which is not part of the exercise."
                return CheckResult(exercise, False, sentence, "changed", cases=trial.cases)
            return result


def _text(file: Path) -> str:
    if not file.is_file():  # also rejects devices and pipes, which may never end
        raise OSError("there is no such file")
    if file.stat().st_size > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES:,} bytes")
    return file.read_text(encoding="utf-8")


def _check_trial(exercise: Exercise, trial: Trial) -> CheckResult:
    """Run the check, and return its result: that of the first failed test."""
    try:
        exercise.check(trial)
    except Wrong as wrong:  # in a test, or outside of any
        if not any(test.wrong is wrong for test in trial.tests):
            trial.tests.append(TestResult("other conditions", wrong))
    except WorkerGone as gone:
        return _worker_gone(exercise, gone, trial.cases)
    except Exception as error:  # a check may fail on unexpected return values
        sentence = f"The check cannot process the program's return value: {type(error).__name__}: {error}."
        return CheckResult(exercise, False, sentence, "result", cases=trial.cases)
    first = next((test.wrong for test in trial.tests if test.wrong is not None), None)
    tests = tuple(trial.tests)
    if first is None:
        return CheckResult(exercise, True, cases=trial.cases, tests=tests)
    mistake = find_mistake(trial.text, first, exercise.mistakes)
    return CheckResult(
        exercise, False, first.sentence, first.kind, first.report, first.picture, first.printed, trial.cases, first.ranks,
        mistake, tests,
    )  # fmt: skip


def _worker_gone(exercise: Exercise, error: WorkerGone, cases: int) -> CheckResult:
    reason = str(error)
    return CheckResult(exercise, False, f"{reason[0].upper()}{reason[1:]}", "gone", cases=cases)
