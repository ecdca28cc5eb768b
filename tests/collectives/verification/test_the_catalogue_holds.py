"""Every algorithm of ours is verified; with fewer cases than by default, since other tests draw them by chance."""

from __future__ import annotations

import pytest

from collectives import CATALOGUE, Algorithm, find
from collectives.verification.plan import planned
from collectives.verification.sweep import examine
from fakempi.laboratory import Emulator

VERIFIED = [algorithm for algorithm in CATALOGUE if algorithm.kind not in ("files", "making")]
"""Those that make communicators fill no buffers and return no data; tests/collectives/making holds their claims.

What accesses files is handed one; tests/collectives/files holds its claims."""


@pytest.mark.parametrize("algorithm", VERIFIED, ids=repr)
def test_every_algorithm_does_what_it_claims(algorithm: Algorithm) -> None:
    """And cases of both kinds are tried: those that it serves, and those that it refuses."""
    verdict = examine(algorithm, Emulator(), ranks=5, cases=10)
    assert "\n".join(map(str, verdict.counterexamples)) == ""
    assert verdict.tried == verdict.planned > verdict.refused


@pytest.mark.parametrize(
    ("operation", "name", "kind"),
    [
        ("reduce", "chain", "intra"),
        ("allgatherv", "full_duplex", "inter"),
        ("split", "hash", "split"),
        ("sort", "cheng", "chain"),
    ],
)
def test_the_same_cases_are_tried_every_time(operation: str, name: str, kind: str) -> None:
    """In the same order and settings."""
    algorithm = find(operation, name, kind)
    jobs = planned(algorithm, 9, 200, ("greenlets", "threads"))
    assert jobs == planned(algorithm, 9, 200, ("greenlets", "threads"))
    ranks = [job.case.ranks for job in jobs]
    assert ranks == sorted(ranks)
    assert {job.settings[-1].carrier for job in jobs} == {"", "threads"}
    assert {setting.eager_limit for job in jobs for setting in job.settings} == {0, 64, 1 << 20}


def test_all_numbers_of_ranks_up_to_nine_and_some_beyond_are_tried() -> None:
    """The largest among them."""
    jobs = planned(find("bcast", "binomial"), 40, 600, ("threads",))
    assert sorted({job.case.p for job in jobs}) == [*range(1, 10), 12, 15, 16, 17, 24, 31, 32, 33, 40]


def test_what_is_refused_is_tried_too() -> None:
    """With the first few reasons, those for values that make no sense among them."""
    jobs = planned(find("bcast", "chain"), 3, 100, ("threads",))
    assert [dict(job.case.parameters) for job in jobs if job.refused] == [{"segment_bytes": 0}] * 3
    jobs = planned(find("allreduce", "ring"), 3, 100, ("threads",))
    assert {job.case.commutative for job in jobs if job.refused} == {False}
