"""`verify(executor=...)`: the same verdict with any executor, also for faults and for algorithms that cannot be pickled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from collectives import Algorithm, Case, find, verify
from collectives.loading import load
from collectives.verification.sweep import Verdict, examine
from fakempi.apps.cli import main
from fakempi.apps.emulator import Emulator
from tests.cli.test_running import Capture

WRONG = """
from dataclasses import replace
from collectives import find

RING = find("allgather", "ring")
ALGORITHM = replace(RING, name="wrong_claim", closed_rounds=lambda case: case.p)
"""


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two worker processes."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def verdict(algorithm: Algorithm, executor: Executor | None) -> tuple[int, int, list[str]]:
    """Numbers of cases and the counterexamples."""
    found: Verdict = examine(algorithm, Emulator(), ranks=4, cases=16, executor=executor)
    return found.tried, found.rejected, [str(each) for each in found.counterexamples]


@pytest.mark.sample
@pytest.mark.slow
def test_worker_processes_give_the_same_verdict(processes: Executor, tmp_path: Path) -> None:
    """For claims that hold, and for a file with a wrong claim."""
    file = tmp_path / "wrong.py"
    file.write_text(WRONG, encoding="utf-8")
    assert verdict(find("bcast", "binomial"), processes) == verdict(find("bcast", "binomial"), None)
    wrong = load(str(file))
    assert verdict(wrong, processes) == verdict(wrong, None)
    assert verdict(wrong, None)[2] != []


def test_an_algorithm_that_cannot_be_pickled_is_verified_in_this_process(processes: Executor) -> None:
    """It is not in the catalogue and not in a file."""
    odd = replace(find("barrier", "dissemination"), why_unsupported=lambda case: "odd" if case.p % 2 else None)
    local = replace(odd, name="local")
    assert verdict(local, processes) == verdict(local, None)


def test_progress_counts_the_cases_in_order() -> None:
    """It is called before a case is counted, on any executor."""
    seen: list[tuple[int, Case]] = []
    with ThreadPoolExecutor(1) as executor:
        assert verify(
            find("barrier", "dissemination"), ranks=4, cases=12, executor=executor,
            progress=lambda tried, planned, case: seen.append((tried, case)),
        ) == []  # fmt: skip
    assert [number for number, _ in seen] == list(range(len(seen)))
    assert [case.p for _, case in seen] == sorted(case.p for _, case in seen)


@pytest.mark.slow
def test_the_command_has_worker_processes(capsys: Capture) -> None:
    """`--jobs 2` prints the same conclusion."""
    assert main(["verify", "barrier/dissemination", "--ranks", "3"]) == 0
    alone = capsys.readouterr().out
    assert main(["verify", "barrier/dissemination", "--ranks", "3", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == alone
