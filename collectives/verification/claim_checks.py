"""Compare a run with the claims for its case: messages, bytes, rounds, modeled time and memory, all exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.tools.plurals import counted
from collectives.verification.case_claims import CaseClaims, Claim
from collectives.verification.case_run import CaseRun
from collectives.verification.fault import EXACT, ROUNDS, AlgorithmFault
from collectives.verification.machine import Setting
from collectives.verification.sort_and_split import has_exact_claims, with_reorder


def failed_claims(algorithm: Algorithm, case: Case, claims: CaseClaims, run: CaseRun) -> Iterator[AlgorithmFault]:
    """Claims that do not hold for a run without buffering."""
    setting, outcome = run.setting, run.outcome
    if setting == EXACT:
        yield from _memory(algorithm, case, run)
    if not has_exact_claims(case):
        return
    if setting == ROUNDS:
        yield from _number("rounds", "the run takes {} round{s}", claims.rounds(), outcome.time, setting)
        return
    ranks = range(case.ranks)
    yield from _by_rank("messages", "sends {} message{s}", map(claims.messages, ranks), outcome.messages, setting)
    yield from _by_rank("bytes", "sends {} byte{s}", map(claims.sent, ranks), outcome.sent, setting)
    claimed = claims.time(setting.t_s, setting.t_w, setting.c)
    yield from _number("time", "the run takes {} second{s} of modeled time", claimed, outcome.time, setting)


def _memory(algorithm: Algorithm, case: Case, run: CaseRun) -> Iterator[AlgorithmFault]:
    """Compare the memory: bytes from `blocks.spare_memory`, or for sorts and splits the items reported to the meter."""
    if algorithm.kind in ("intra", "inter"):
        taken = [result.scratch for result in run.results]
        claimed = [[Claim(algorithm.scratch(case, rank), "scratch()")] for rank in range(case.ranks)]
        yield from _by_rank("scratch", "allocates {} byte{s} of scratch memory", claimed, taken, run.setting)
        return
    limit = algorithm.held(with_reorder(case))
    for rank, result in enumerate(run.results):
        if limit is not None and result.held > limit:
            message = f"rank {rank} holds {counted(result.held, 'item')} at once, but holds() claims at most {limit}"
            yield AlgorithmFault("holds", message, limit, result.held, run.setting)
            return
        if not result.released:
            message = f"rank {rank} does not report to its meter that it releases all its items"
            yield AlgorithmFault("holds", message, 0, None, run.setting)
            return


def _number(kind: str, phrase: str, claims: Iterable[Claim], actual: Any, setting: Setting) -> Iterator[AlgorithmFault]:
    """Compare one number of the whole run with the closed form and the schedule."""
    claimed = list(claims)
    for claim in claimed:
        if claim.value != actual:
            others = "".join(f" ({other.source} claims {other.value})" for other in claimed if other.source != claim.source)
            message = f"{_with_number(phrase, actual)}, but {claim.source} claims {claim.value}{others}"
            yield AlgorithmFault(kind, message, claim.value, actual, setting)
            return


def _by_rank(
    kind: str, phrase: str, claims: Iterable[Iterable[Claim]], actual: Sequence[int], setting: Setting
) -> Iterator[AlgorithmFault]:
    """Compare one number of every rank; the message names the first rank that differs."""
    claimed = [list(each) for each in claims]
    for rank, (rank_claims, number) in enumerate(zip(claimed, actual, strict=True)):
        for claim in rank_claims:
            if claim.value != number:
                values = [" or ".join(dict.fromkeys(str(each.value) for each in one)) for one in claimed]
                message = f"rank {rank} {_with_number(phrase, number)}, but {claim.source} claims {claim.value}"
                rows = list(zip(values, map(str, actual), strict=True))
                yield AlgorithmFault(kind, message, claim.value, number, setting, rows)
                return


def _with_number(phrase: str, number: Any) -> str:
    """Replace `{}` in a phrase by a number, and `{s}` by the ending of the plural."""
    return phrase.format(number, s="" if number == 1 else "s")
