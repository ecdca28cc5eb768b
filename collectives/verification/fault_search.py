"""All faults of an algorithm in one case: run it in several settings and compare it with its claims."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Iterator, Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.case_claims import CaseClaims, missing_dependency, model_violation
from collectives.verification.case_run import CaseRun, run_case
from collectives.verification.claim_checks import failed_claims
from collectives.verification.fault import AlgorithmFault
from collectives.verification.machine import Machine, RunFailure, Setting


def find_faults(algorithm: Algorithm, case: Case, machine: Machine, settings: Sequence[Setting]) -> Iterator[AlgorithmFault]:
    """Yield all faults, setting by setting; a run that fails ends the search."""
    evaluated = "why_unsupported()"
    try:
        reason = algorithm.why_unsupported(case)
        if reason is None:
            evaluated = "the schedule"
            claims = CaseClaims(algorithm, case)
    except Exception as error:
        yield _claim_raised(evaluated, error)
        return
    if reason is not None:
        for setting in settings[:1]:
            yield from _not_refused(run_case(algorithm, case, machine, setting), reason)
        return
    yield from _invalid_schedule(algorithm, case, claims)
    for setting in settings:
        run = run_case(algorithm, case, machine, setting)
        if run.outcome.failure or not all(result.ended for result in run.results):
            yield _failed(algorithm, run)
            return
        if any(result.rejected is not None for result in run.results):
            yield from _refused(run)
            return
        yield from _wrong_results(run)
        if setting.eager_limit == 0 and setting.late < 0:
            try:
                yield from failed_claims(algorithm, case, claims, run)
            except Exception as error:
                yield _claim_raised("a claim", error)
                return


def _claim_raised(claim: str, error: Exception) -> AlgorithmFault:
    return AlgorithmFault("claims", f"{claim} raised {_description(error)}{_location(error)}", None, error)


def _description(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _location(error: BaseException, file: str | None = None) -> str:
    """The innermost line of the traceback in the given file, or in any file outside this package."""
    frames = traceback.extract_tb(error.__traceback__)
    package = os.path.dirname(__file__)
    inner = [frame for frame in frames if (frame.filename == file if file else os.path.dirname(frame.filename) != package)]
    return f" at {os.path.basename(inner[-1].filename)}:{inner[-1].lineno}" if inner else ""


def _invalid_schedule(algorithm: Algorithm, case: Case, claims: CaseClaims) -> Iterator[AlgorithmFault]:
    """Report a schedule that violates the model, and ignore it from then on."""
    if claims.schedule is None:
        return
    message = model_violation(claims.schedule, case.ranks)
    if message is not None:
        claims.schedule = None
    elif algorithm.operation == "barrier" and not case.q:
        message = missing_dependency(claims.schedule, case.p)
    if message is not None:
        yield AlgorithmFault("schedule", message, None, message)


def _not_refused(run: CaseRun, reason: str) -> Iterator[AlgorithmFault]:
    """Check a case that `why_unsupported` rejects: every rank must raise UnsupportedCaseError before it sends anything."""
    failure, sent = run.outcome.failure, sum(run.outcome.messages)
    rejects, advice = f"why_unsupported() rejects this case ({reason})", "call ALGORITHM.check(case) first"
    for rank, result in enumerate(run.results):
        if result.rejected is None:
            error = failure.error if failure else None
            raised = f"raised {_description(error)}" if error else "did not raise UnsupportedCaseError"
            behavior = "ran anyway" if result.ended else raised
            message = f"{rejects}, but the call on rank {rank} {behavior}; {advice}"
            yield AlgorithmFault("fits", message, reason, behavior, run.setting)
            return
    if sent:
        messages = "1 message was" if sent == 1 else f"{sent} messages were"
        message = f"{rejects}, but {messages} sent before the call raised UnsupportedCaseError; {advice}"
        yield AlgorithmFault("fits", message, reason, sent, run.setting)


def _refused(run: CaseRun) -> Iterator[AlgorithmFault]:
    for rank, result in enumerate(run.results):
        if result.rejected is not None:
            raised = f"the call on rank {rank} raised UnsupportedCaseError: {result.rejected}"
            message = f"why_unsupported() accepts this case, but {raised}"
            yield AlgorithmFault("fits", message, None, result.rejected, run.setting)
            return


def _failed(algorithm: Algorithm, run: CaseRun) -> AlgorithmFault:
    """Describe a run that did not finish."""
    for fault in _refused(run):
        return fault
    failure = run.outcome.failure or RunFailure("error")
    if failure.kind == "error":
        if failure.error is None:
            rank = next(rank for rank, result in enumerate(run.results) if not result.ended)
            return AlgorithmFault("error", f"rank {rank} exited before its call returned", None, "exited", run.setting)
        file = getattr(getattr(inspect.unwrap(algorithm.run), "__code__", None), "co_filename", None)
        message = f"rank {failure.rank} raised {_description(failure.error)}{_location(failure.error, file)}"
        return AlgorithmFault("error", message, None, failure.error, run.setting)
    message = {"deadlock": "all unfinished ranks are blocked", "livelock": "ranks poll for messages that never arrive"}.get(
        failure.kind, "the run did not finish within the time limit"
    )
    return AlgorithmFault(failure.kind, message, None, failure.report, run.setting)


def _wrong_results(run: CaseRun) -> Iterator[AlgorithmFault]:
    for kind, changes, attribute in (("result", "", "wrong"), ("input", " changed its input", "changed")):
        mismatches = [getattr(result, attribute) for result in run.results]
        for rank, wrong in enumerate(mismatches):
            if wrong is not None:
                rows = [(mismatch.expected, mismatch.actual) if mismatch else ("", "") for mismatch in mismatches]
                message = f"rank {rank}{changes}: {wrong.message}"
                yield AlgorithmFault(kind, message, wrong.expected, wrong.actual, run.setting, rows)
                break
    if run.outcome.unmatched:
        yield AlgorithmFault("unreceived", run.outcome.unmatched[0], None, list(run.outcome.unmatched), run.setting)
