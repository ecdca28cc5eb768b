"""Random programs of ten families on a real MPI and on the emulator: equal observations, and no findings.

`python -m tests.real_mpi.random FAMILY N --seed S` compares more programs, and shows the smallest programs that differ.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.breadth import breadth
from tests.real_mpi.random import compare
from tests.real_mpi.random.compare import Comparison, compare_random, differences, emulated, shrunk
from tests.real_mpi.random.families import FAMILIES, programs
from tests.real_mpi.random.invalid import CASES
from tests.real_mpi.random.invalid.known import KNOWN, reason
from tests.real_mpi.random.observing import Program, agree
from tests.real_mpi.random.type_trees import BASICS, DatatypeBuilder, meaning, random_tree

PROGRAMS = breadth(40, 2000)


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs_observe_the_same_on_a_real_mpi(family: str) -> None:
    """All differences are explained in docs/conformance.md; correct programs have no findings."""
    found = compare_random(family, PROGRAMS)
    assert found.compared == PROGRAMS
    assert not found.differences, shrunk(family, found.differences[0])
    assert not found.findings


@pytest.mark.quick(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_random_programs_end_without_findings_on_the_emulator(family: str) -> None:
    """Also if no MPI is installed: a program that deadlocks or fails is reported as text."""
    findings: Counter[str] = Counter()
    observed = emulated(family, programs(family, 40, 10**6), findings)
    assert not findings
    assert [each for ranks in observed for each in ranks if isinstance(each, str)] == []
    assert observed == emulated(family, programs(family, 40, 10**6))


def test_bounds_and_positions_of_random_types_are_those_of_their_type_maps() -> None:
    """The generator's definition of datatypes is a third implementation next to MPICH's and fakempi's."""

    def main(comm: MPI.Intracomm) -> None:
        rng = Random(1)
        for _ in range(400):
            tree = random_tree(rng, rng.randint(0, 4))
            found = meaning(tree)
            with DatatypeBuilder(MPI) as make:
                made = make.build(tree)
                assert made.Get_size() == found.size, tree
                if not found.entries:
                    continue
                first = min(place for place, _ in found.entries)
                last = max(place + BASICS[name][0] for place, name in found.entries)
                assert made.Get_extent() == (found.lb, found.extent), tree
                assert made.Get_true_extent() == (first, last - first), tree

    fakempi.run(main, 1)


def test_observations_agree_if_they_are_equal_or_errors_of_one_kind() -> None:
    """mpi4py raises ValueError for some arguments; fakempi's error is a ValueError and has a class of MPI."""
    assert agree([1, {"error": ["ValueError"]}], [1, {"error": ["ERR_ARG", "ValueError"]}])
    assert not agree([1, {"error": ["ERR_ARG"]}], [1, {"error": ["ERR_OP"]}])
    assert not agree([1, 2], [1, 2, 3])
    assert not agree({"error": ["ERR_ARG"]}, 5)


def test_differences_of_invalid_calls_are_known_by_case_and_by_both_observations() -> None:
    """Another class on either side, or another case, is a difference."""
    assert set(KNOWN) <= set(CASES)
    assert reason("Lock", {"error": ["ERR_ARG"]}, {"error": ["ERR_LOCKTYPE"]}) is not None
    assert reason("Lock", {"error": ["ERR_RANK"]}, {"error": ["ERR_LOCKTYPE"]}) is None
    assert reason("Lock", None, {"error": ["ERR_LOCKTYPE"]}) is None
    assert reason("Lock", {"error": ["ERR_ARG"]}, None) is None
    assert reason("Fence: assertion", {"error": ["ERR_ARG"]}, {"error": ["ERR_LOCKTYPE"]}) is None
    assert reason("Split: color", "Intracomm", {"error": ["ERR_ARG"]}) is not None
    assert reason("Create_cart: periods", None, {"error": ["ERR_ARG"]}) is None


def test_a_difference_is_found_and_shrunk_to_the_relevant_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for the real MPI whose observations differ if a program has operations 2 and 5."""
    todo: list[Program] = [{"ranks": 1, "ops": [{"op": number} for number in range(7)]}]

    def perform(family: str, todo: Any, wrong: bool) -> list[list[Any]]:
        def seen(ops: list[Any]) -> list[Any]:
            numbers = {op["op"] for op in ops}
            return [-1 if wrong and op["op"] == 5 and 2 in numbers else op["op"] for op in ops]

        return [[seen(each["ops"])] for each in todo]

    def compare_them(family: str, todo: Any) -> Comparison:
        return differences(family, todo, perform(family, todo, False), perform(family, todo, True))

    monkeypatch.setattr(compare, "compare", compare_them)
    (found,) = compare_them("partitions", todo).differences
    assert (found.index, found.rank, found.real, found.emulated) == (5, 0, -1, 5)
    assert [op["op"] for op in shrunk("partitions", found).program["ops"]] == [2, 5]
