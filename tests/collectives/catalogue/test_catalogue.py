"""Looking things up: what is there, what is not, what does not fit; and the words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from collectives import CATALOGUE, Algorithm, Case, DoesNotFit, find, fitting
from collectives.catalogue.algorithm import commutative_only
from collectives.verification.cases import REDUCING


def test_find_gives_the_algorithm() -> None:
    """By operation and name."""
    ring = find("allgather", "ring")
    assert (ring.operation, ring.name, ring.kind) == ("allgather", "ring", "intra")
    assert repr(ring) == "<intra allgather ring>"


def test_an_unknown_name_lists_what_there_is() -> None:
    """The likely question is: what is it called, then?"""
    with pytest.raises(
        LookupError, match=r"^no intra algorithm 'rings' for allgather; there are bruck, bruck_ring, circulant, .*ring$"
    ):
        find("allgather", "rings")


def test_an_unknown_operation_lists_what_there_is() -> None:
    """Also if only the kind is wrong."""
    with pytest.raises(LookupError, match=r"^no intra algorithms for 'allgathr'; there are some for allgather, .*$"):
        find("allgathr", "ring")


def test_a_case_that_does_not_fit_is_refused_with_the_ones_that_fit() -> None:
    """Refuse, never substitute."""
    with pytest.raises(
        DoesNotFit,
        match=r"^allgather recursive_doubling: p = 6 is not a power of two; these fit: bruck, bruck_ring, circulant, "
        r"cluster_ring, gather_bcast, neighbor_exchange, ring$",
    ):
        find("allgather", "recursive_doubling", case=Case(6))


def test_a_part_that_does_not_fit_is_named() -> None:
    """A composite refuses for its parts."""
    part = find("bcast", "scatter_recursive_doubling_allgather")
    case = Case(6, 8, parameters={"bcast": part})
    assert find("allgather", "gather_bcast").fits(case) == (
        "bcast scatter_recursive_doubling_allgather: p = 6 is not a power of two"
    )


def test_odd_numbers_of_ranks_are_refused_by_neighbor_exchange() -> None:
    """It swaps pairs."""
    assert "neighbor_exchange" not in [a.name for a in fitting("allgather", Case(5))]
    assert find("allgather", "neighbor_exchange").fits(Case(5)) == "p = 5 is odd"


@pytest.mark.parametrize("algorithm", [a for a in CATALOGUE if a.kind == "intra" and a.operation in REDUCING], ids=repr)
def test_an_op_that_is_not_commutative_is_served_in_order_or_refused(algorithm: Algorithm) -> None:
    """`in_order` is the promise, `fits` the refusal."""
    refusal = algorithm.fits(Case(4, 8, commutative=False))
    words = "the op is not commutative, and this algorithm does not keep to rank order"
    assert refusal == (None if algorithm.in_order else words)


def test_a_reduce_in_no_order_is_refused_inside_an_allreduce() -> None:
    """The part is named, before anything is sent."""
    unordered = replace(find("reduce", "linear"), name="unordered", fits=commutative_only, in_order=False)
    case = Case(4, 8, commutative=False, parameters={"reduce": unordered})
    assert find("allreduce", "reduce_bcast").fits(case) == (
        "reduce unordered: the op is not commutative, and this algorithm does not keep to rank order"
    )


def test_segments_must_be_positive() -> None:
    """A pipeline of empty segments would never end."""
    case = Case(4, 8, parameters={"segment_bytes": 0})
    assert find("bcast", "chain").fits(case) == "segment_bytes = 0 is not positive"


def test_a_case_is_checked() -> None:
    """Bytes that are no whole elements, counts for other ranks."""
    with pytest.raises(ValueError, match=r"^m = 7 bytes is not a whole number of elements of 4 bytes$"):
        Case(3, 7, itemsize=4)
    with pytest.raises(ValueError, match=r"^2 counts for p = 3 ranks$"):
        Case(3, counts=(1, 2))
    with pytest.raises(ValueError, match=r"^traffic must have 2 rows of 2 counts, one for each pair of ranks$"):
        Case(2, traffic=((1, 2), (3,)))


def test_python_m_collectives_lists_everything() -> None:
    """One line each, and what the symbols mean."""
    done = subprocess.run([sys.executable, "-m", "collectives"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0].split()[:2] == ["operation", "algorithm"]
    named = [[*([] if a.kind in ("intra", a.operation) else [a.kind]), a.operation, a.name] for a in CATALOGUE]
    assert [line.split()[: len(words)] for line, words in zip(lines[2:-2], named, strict=True)] == named
    assert max(map(len, lines)) <= 230
