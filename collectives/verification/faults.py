"""All that is wrong with an algorithm in one case: it is run in several settings and held against its claims."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.claims import broken_claims
from collectives.verification.fault import Fault
from collectives.verification.machine import Failure, Machine, Setting
from collectives.verification.paper import Paper, breach, unheard
from collectives.verification.trial import Trial, attempt


def faults(algorithm: Algorithm, case: Case, machine: Machine, settings: Sequence[Setting]) -> Iterator[Fault]:
    """All that is wrong, setting by setting; a run that fails is the last."""
    asked = "fits"
    try:
        refusal = algorithm.fits(case)
        if refusal is None:
            asked = "the schedule"
            paper = Paper(algorithm, case)
    except Exception as error:
        yield _raised(asked, error)
        return
    if refusal is not None:
        for setting in settings[:1]:
            yield from _not_refused(attempt(algorithm, case, machine, setting), refusal)
        return
    yield from _rules_broken(algorithm, case, paper)
    for setting in settings:
        trial = attempt(algorithm, case, machine, setting)
        if trial.outcome.failure or not all(finding.ended for finding in trial.findings):
            yield _failed(algorithm, trial)
            return
        if any(finding.refused is not None for finding in trial.findings):
            yield from _refused(trial)
            return
        yield from _wrong_results(trial)
        if setting.eager_limit == 0 and setting.late < 0:
            try:
                yield from broken_claims(algorithm, case, paper, trial)
            except Exception as error:
                yield _raised("a claim", error)
                return


def _raised(what: str, error: Exception) -> Fault:
    return Fault("claims", f"{what} raised {_said(error)}{_place(error)}", None, error)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _place(error: BaseException, file: str | None = None) -> str:
    """The last line that led to it: of the given file, or of any but ours."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = os.path.dirname(__file__)
    own = [frame for frame in frames if (frame.filename == file if file else os.path.dirname(frame.filename) != ours)]
    return f" at {os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else ""


def _rules_broken(algorithm: Algorithm, case: Case, paper: Paper) -> Iterator[Fault]:
    """A schedule that does not keep to the model is told of and then left aside."""
    if paper.plan is None:
        return
    words = breach(paper.plan, case.ranks)
    if words is not None:
        paper.plan = None
    elif algorithm.operation == "barrier" and not case.q:
        words = unheard(paper.plan, case.p)
    if words is not None:
        yield Fault("schedule", words, None, words)


def _not_refused(trial: Trial, reason: str) -> Iterator[Fault]:
    """A case that `fits` refuses: every rank must raise DoesNotFit, and nothing may be sent."""
    failure, sent = trial.outcome.failure, sum(trial.outcome.messages)
    for rank, finding in enumerate(trial.findings):
        if finding.refused is None:
            error = failure.error if failure else None
            does = "is carried out" if finding.ended else f"raises {_said(error)}" if error else "does not raise DoesNotFit"
            words = f"fits refuses the case ({reason}), and the call on rank {rank} {does}"
            yield Fault("fits", words, reason, does, trial.setting)
            return
    if sent:
        words = f"fits refuses the case ({reason}), and {sent} messages were sent before the call did"
        yield Fault("fits", words, reason, sent, trial.setting)


def _refused(trial: Trial) -> Iterator[Fault]:
    for rank, finding in enumerate(trial.findings):
        if finding.refused is not None:
            words = f"fits takes the case, and the call on rank {rank} refuses it: {finding.refused}"
            yield Fault("fits", words, None, finding.refused, trial.setting)
            return


def _failed(algorithm: Algorithm, trial: Trial) -> Fault:
    """A run that did not come to its end."""
    for fault in _refused(trial):
        return fault
    failure = trial.outcome.failure or Failure("error")
    if failure.kind == "error":
        if failure.error is None:
            rank = next(rank for rank, finding in enumerate(trial.findings) if not finding.ended)
            return Fault("error", f"rank {rank} ended before its call did", None, "ended", trial.setting)
        own = getattr(getattr(algorithm.run, "__code__", None), "co_filename", None)
        words = f"rank {failure.rank} raised {_said(failure.error)}{_place(failure.error, own)}"
        return Fault("error", words, None, failure.error, trial.setting)
    words = {
        "deadlock": "nothing moves any more, and ranks wait",
        "livelock": "ranks ask for messages for ever, and none comes",
    }.get(failure.kind, "it does not end")
    return Fault(failure.kind, words, None, failure.report, trial.setting)


def _wrong_results(trial: Trial) -> Iterator[Fault]:
    for what, verb, of in (("result", "has", "wrong"), ("input", "has changed its input, which has", "changed")):
        found = [getattr(finding, of) for finding in trial.findings]
        for rank, wrong in enumerate(found):
            if wrong is not None:
                rows = [(each.expected, each.found) if each else ("", "") for each in found]
                yield Fault(what, f"rank {rank} {verb} {wrong.words}", wrong.expected, wrong.found, trial.setting, rows)
                break
    if trial.outcome.left:
        yield Fault("unreceived", trial.outcome.left[0], None, list(trial.outcome.left), trial.setting)
