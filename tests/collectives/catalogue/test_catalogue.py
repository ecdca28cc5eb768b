"""Lookup in the catalogue: existing, missing and unsupported algorithms, and the messages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, find, fitting
from collectives.catalogue.conditions import commutative_only, power_of_two_only
from collectives.verification.cases import REDUCING
from tests.helpers.loops import for_each


def test_find_returns_the_algorithm() -> None:
    """`find` returns the algorithm with this operation and name."""
    ring = find("allgather", "ring")
    assert (ring.operation, ring.name, ring.kind) == ("allgather", "ring", "intra")
    assert repr(ring) == "<intra allgather ring>"


def test_an_unknown_name_lists_the_names_that_exist() -> None:
    """The message lists the existing names."""
    with pytest.raises(
        LookupError, match=r"^no intra algorithm 'rings' for allgather; available: bine, bruck, bruck_ring, .*, two_level$"
    ):
        find("allgather", "rings")


def test_an_unknown_operation_lists_the_operations_that_exist() -> None:
    """The message lists the existing operations, also if only the kind is wrong."""
    with pytest.raises(LookupError, match=r"^no intra algorithms for 'allgathr'; available operations: allgather, .*$"):
        find("allgathr", "ring")


def test_an_unsupported_case_lists_the_algorithms_that_fit() -> None:
    """The error lists the algorithms that fit; no other algorithm is substituted."""
    with pytest.raises(
        UnsupportedCaseError,
        match=r"^allgather recursive_doubling: p = 6 is not a power of two; algorithms that fit: bine, bruck, "
        r"bruck_ring, circulant, cluster_ring, gather_bcast, k_ring, locality_bruck, multi_lane, neighbor_exchange, pat, "
        r"recursive_multiplying, ring, sparbit, swing, two_level$",
    ):
        find("allgather", "recursive_doubling", case=Case(6))


def test_a_part_that_does_not_fit_is_named() -> None:
    """A composite algorithm does not fit if one of its parts does not."""
    part = replace(find("bcast", "binomial"), why_unsupported=power_of_two_only)
    case = Case(6, 8, parameters={"bcast": part})
    assert find("allgather", "gather_bcast").why_unsupported(case) == "bcast binomial: p = 6 is not a power of two"


def test_neighbor_exchange_does_not_support_odd_p() -> None:
    """Neighbor exchange needs pairs of ranks."""
    assert "neighbor_exchange" not in [a.name for a in fitting("allgather", Case(5))]
    assert find("allgather", "neighbor_exchange").why_unsupported(Case(5)) == "p = 5 is odd"


@for_each("algorithm", [a for a in CATALOGUE if a.kind == "intra" and a.operation in REDUCING])
def test_a_noncommutative_op_is_combined_in_order_or_not_supported(algorithm: Algorithm) -> None:
    """Either `in_order` is True or `why_unsupported` returns a reason."""
    reason = algorithm.why_unsupported(Case(4, 8, commutative=False))
    expected = "the op is not commutative, but this algorithm does not combine in rank order"
    assert reason == (None if algorithm.in_order else expected)


def test_an_unordered_reduce_as_a_part_of_an_allreduce_is_not_supported() -> None:
    """The error names the part, before any message is sent."""
    unordered = replace(find("reduce", "linear"), name="unordered", why_unsupported=commutative_only, in_order=False)
    case = Case(4, 8, commutative=False, parameters={"reduce": unordered})
    assert find("allreduce", "reduce_bcast").why_unsupported(case) == (
        "reduce unordered: the op is not commutative, but this algorithm does not combine in rank order"
    )


def test_segments_must_be_positive() -> None:
    """A pipeline of empty segments would never end."""
    case = Case(4, 8, parameters={"segment_bytes": 0})
    assert find("bcast", "chain").why_unsupported(case) == "segment_bytes = 0 is not positive"


def test_a_case_is_checked() -> None:
    """A case rejects a fraction of an element and counts for another number of ranks."""
    with pytest.raises(ValueError, match=r"^m = 7 bytes is not a whole number of elements of 4 bytes$"):
        Case(3, 7, itemsize=4)
    with pytest.raises(ValueError, match=r"^2 counts for p = 3 ranks$"):
        Case(3, counts=(1, 2))
    with pytest.raises(ValueError, match=r"^traffic must have 2 rows of 2 counts each, one count for each pair of ranks$"):
        Case(2, traffic=((1, 2), (3,)))


def test_python_m_collectives_lists_all_algorithms() -> None:
    """One line per algorithm, and the meaning of the symbols."""
    done = subprocess.run([sys.executable, "-m", "collectives"], capture_output=True, text=True, check=True, timeout=270)
    lines = done.stdout.splitlines()
    assert lines[0].split()[:2] == ["operation", "algorithm"]
    named = [[*([] if a.kind in ("intra", a.operation) else [a.kind]), a.operation, a.name] for a in CATALOGUE]
    assert [line.split()[: len(expected)] for line, expected in zip(lines[2:-2], named, strict=True)] == named
    assert max(map(len, lines)) <= 232


def test_python_m_collectives_explains_itself_and_rejects_arguments() -> None:
    """`--help` prints the usage instead of the table."""
    command = [sys.executable, "-m", "collectives"]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, timeout=270)
    assert done.stdout.startswith("usage: python -m collectives [-h]")
    assert "allgather" not in done.stdout
    assert subprocess.run([*command, "allgather"], capture_output=True, check=False, timeout=270).returncode == 2
