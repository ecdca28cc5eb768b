"""A run held against what is claimed of its case: messages, bytes, rounds, time and memory, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.chains import exact
from collectives.verification.fault import EXACT, ROUNDS, Fault
from collectives.verification.machine import Setting
from collectives.verification.paper import Claim, Paper
from collectives.verification.trial import Trial


def broken_claims(algorithm: Algorithm, case: Case, paper: Paper, trial: Trial) -> Iterator[Fault]:
    """Claims that a run in the model, with nothing buffered, does not keep."""
    setting, outcome = trial.setting, trial.outcome
    if setting == EXACT:
        yield from _memory(algorithm, case, trial)
    if not exact(case):
        return
    if setting == ROUNDS:
        yield from _number("rounds", "it takes {} round{s}", paper.rounds(), outcome.time, setting)
        return
    ranks = range(case.ranks)
    yield from _by_rank("messages", "sends {} message{s}", map(paper.messages, ranks), outcome.messages, setting)
    yield from _by_rank("bytes", "sends {} byte{s}", map(paper.sent, ranks), outcome.sent, setting)
    claims = paper.time(setting.t_s, setting.t_w, setting.c)
    yield from _number("time", "it takes {} second{s} of modelled time", claims, outcome.time, setting)


def _memory(algorithm: Algorithm, case: Case, trial: Trial) -> Iterator[Fault]:
    """What `blocks.scratch` handed out; of what runs on chains, what it told its meter."""
    if algorithm.kind in ("intra", "inter"):
        taken = [finding.scratch for finding in trial.findings]
        claimed = [[Claim(algorithm.scratch(case, rank), "the claim")] for rank in range(case.ranks)]
        yield from _by_rank("scratch", "takes {} byte{s} of scratch memory", claimed, taken, trial.setting)
        return
    limit = algorithm.held(case)
    for rank, finding in enumerate(trial.findings):
        if limit is not None and finding.held > limit:
            words = f"rank {rank} holds {finding.held} items at once, and at most {limit} are claimed"
            yield Fault("holds", words, limit, finding.held, trial.setting)
            return
        if not finding.released:
            yield Fault("holds", f"rank {rank} does not tell its meter of all that it lets go", 0, None, trial.setting)
            return


def _number(what: str, words: str, claims: Iterable[Claim], found: Any, setting: Setting) -> Iterator[Fault]:
    """One number of the whole run; where closed form and schedule differ, both are told."""
    told = list(claims)
    for claim in told:
        if claim.value != found:
            others = "".join(f" ({other.by} says {other.value})" for other in told if other.by != claim.by)
            line = f"{_counted(words, found)}, and {claim.by} says {claim.value}{others}"
            yield Fault(what, line, claim.value, found, setting)
            return


def _by_rank(
    what: str, words: str, claims: Iterable[Iterable[Claim]], found: Sequence[int], setting: Setting
) -> Iterator[Fault]:
    """A number for every rank; told is the first rank that has another one."""
    told = [list(each) for each in claims]
    for rank, (claimed, number) in enumerate(zip(told, found, strict=True)):
        for claim in claimed:
            if claim.value != number:
                values = [" or ".join(dict.fromkeys(str(each.value) for each in one)) for one in told]
                line = f"rank {rank} {_counted(words, number)}, and {claim.by} says {claim.value}"
                yield Fault(what, line, claim.value, number, setting, list(zip(values, map(str, found), strict=True)))
                return


def _counted(words: str, number: Any) -> str:
    return words.format(number, s="" if number == 1 else "s")
