"""Every algorithm of the catalogue passes verification, here with fewer cases than by default."""

from __future__ import annotations

from collections import Counter

import pytest

from collectives import CATALOGUE, Algorithm, find
from collectives.verification.plan.jobs import make_jobs
from collectives.verification.sweep import examine
from fakempi.apps.emulator import Emulator

VERIFIED = [algorithm for algorithm in CATALOGUE if algorithm.kind not in ("files", "comm_creation")]
"""Algorithms of the two other kinds need other arguments; tests/collectives/comm_creation and files check their claims."""


@pytest.mark.quick(80)  # a tenth of a second each
@pytest.mark.parametrize("algorithm", VERIFIED, ids=repr)
def test_every_algorithm_does_what_it_claims(algorithm: Algorithm) -> None:
    """Up to 3 ranks in total; the tests of results and claims have more. At least one case is not rejected."""
    verdict = examine(algorithm, Emulator(), ranks=3, cases=3)
    assert "\n".join(map(str, verdict.counterexamples)) == ""
    assert verdict.tried == verdict.planned > verdict.rejected


@pytest.mark.parametrize(
    ("operation", "name", "kind"),
    [
        ("reduce", "chain", "intra"),
        ("allgatherv", "full_duplex", "inter"),
        ("split", "hash", "split"),
        ("sort", "cheng", "chain"),
    ],
)
def test_jobs_are_reproducible(operation: str, name: str, kind: str) -> None:
    """The cases, their order and their settings are the same in every call."""
    algorithm = find(operation, name, kind)
    jobs = make_jobs(algorithm, 9, 200, ("greenlets", "threads"))
    assert jobs == make_jobs(algorithm, 9, 200, ("greenlets", "threads"))
    ranks = [job.case.ranks for job in jobs]
    assert ranks == sorted(ranks)
    assert {job.settings[-1].backend for job in jobs} == {"", "threads"}
    assert {setting.eager_limit for job in jobs for setting in job.settings} == {0, 64, 1 << 20}


def test_jobs_have_all_numbers_of_ranks_up_to_forty_and_some_larger_ones() -> None:
    """The largest number requested is among them; most jobs are on numbers around powers of two."""
    jobs = make_jobs(find("allreduce", "recursive_doubling"), 70, 600, ("threads",))
    number = Counter(job.case.p for job in jobs)
    assert sorted(number) == [*range(1, 41), 48, 63, 64, 65, 70]
    usual = [*range(1, 10), 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 70]
    assert max(number[p] for p in number if p not in usual) <= 2 < min(number[p] for p in usual)


def test_jobs_contain_rejected_cases() -> None:
    """Invalid parameter values, and ops that the algorithm cannot combine."""
    jobs = make_jobs(find("bcast", "chain"), 3, 100, ("threads",))
    assert [dict(job.case.parameters) for job in jobs if job.rejected] == [{"segment_bytes": 0}] * 3
    jobs = make_jobs(find("allreduce", "ring"), 3, 100, ("threads",))
    assert {job.case.commutative for job in jobs if job.rejected} == {False}
