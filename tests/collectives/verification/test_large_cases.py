"""Verification finds mistakes that only long messages, many ranks or some values of a parameter show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import collectives
from collectives import Algorithm, Case, find
from collectives.block_sizes import smallest
from collectives.split import UNDEFINED
from collectives.verification.choices import parameter_choices
from collectives.verification.fault import EXACT
from collectives.verification.fault_search import find_faults
from collectives.verification.plan.jobs import CASES, make_jobs
from collectives.verification.plan.large_cases import (
    LONG_BYTES,
    LONG_ELEMENTS,
    MOST_MESSAGES,
    largest_block,
    lengthened,
    long_cases,
)
from collectives.verification.plan.tried import tried_lines
from collectives.verification.shrinking import possible, shrunk
from collectives.verification.sort_and_split import SortCase, SplitCase
from collectives.verification.sweep import examine
from fakempi.apps.cli.verifying import find_algorithm
from fakempi.apps.emulator import Emulator
from tests.helpers.loops import for_each


class Call(NamedTuple):
    """The facts that a mutant uses: sizes of both groups, elements of its largest array, counts, keyword arguments."""

    p: int
    q: int
    elements: int
    counts: list[int]
    options: dict[str, Any]


def wrong_when(algorithm: Algorithm, condition: Callable[[Call], bool]) -> Algorithm:
    """The algorithm with a mistake in some calls: the last element of an array is wrong, or a barrier does not wait."""

    def run(comm: Any, *args: Any, **options: Any) -> None:
        q = comm.Get_remote_size() if algorithm.kind == "inter" else 0
        arrays = [each for each in args if isinstance(each, np.ndarray)]
        counts = [count for each in args if isinstance(each, (tuple, list)) for count in each]
        is_wrong = condition(Call(comm.Get_size(), q, max((each.size for each in arrays), default=0), counts, options))
        if is_wrong and not arrays:
            return
        algorithm.run(comm, *args, **options)
        if is_wrong and arrays[-1].size:
            arrays[-1][-1] += 1

    return replace(algorithm, run=run)


MANY_RANKS: dict[str, tuple[Algorithm, Callable[[Call], bool], Callable[[Case], bool]]] = {
    "bcast, p = 18": (find("bcast", "binomial"), lambda call: call.p == 18, lambda case: case.p == 18),
    "allreduce, p = 33": (find("allreduce", "recursive_doubling"), lambda call: call.p == 33, lambda case: case.p == 33),
    "alltoallv, p = 29": (find("alltoallv", "spread"), lambda call: call.p == 29, lambda case: case.p == 29),
    "barrier, p = 18": (find("barrier", "dissemination"), lambda call: call.p == 18, lambda case: case.p == 18),
    "scatter, root other than 0 on many ranks": (
        find("scatter", "binomial"),
        lambda call: call.p > 20 and call.options["root"] != 0,
        lambda case: case.p > 20 and case.root != 0,
    ),
    "reduce, root 0 on many ranks": (
        find("reduce", "binomial"),
        lambda call: call.p > 33 and call.options["root"] == 0,
        lambda case: case.p > 33 and case.root == 0,
    ),
    "allgather, many elements on 18 ranks": (
        find("allgather", "ring"),
        lambda call: call.p == 18 and call.elements > 18 * 5000,
        lambda case: case.p == 18 and case.m > 5000,
    ),
    "inter bcast, 33 ranks in a group": (
        find("bcast", "wmpi", kind="inter"),
        lambda call: 33 in (call.p, call.q),
        lambda case: 33 in (case.p, case.q),
    ),
    "inter allgather, 18 ranks in a group": (
        find("allgather", "two_stage", kind="inter"),
        lambda call: call.p == 18,
        lambda case: 18 in (case.p, case.q),
    ),
}


@pytest.fixture(autouse=True)
def _little_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest case would take long to find, and is of no interest here."""
    monkeypatch.setattr("collectives.verification.shrinking.MAX_TRIES", 20)


@pytest.mark.quick(1)
@pytest.mark.parametrize("mutant", MANY_RANKS.values(), ids=list(MANY_RANKS))
def test_mistakes_on_many_ranks_are_found(mutant: Any) -> None:
    """With one case on each small number of ranks; the other numbers have the same cases by default."""
    correct, condition, applies = mutant
    counterexamples = collectives.verify(wrong_when(correct, condition), Emulator(), cases=1)
    assert {each.kind for each in counterexamples} & {"result", "input", "messages"}
    assert all(applies(each.case) for each in counterexamples)


FEW_RANKS: dict[str, tuple[Algorithm, Callable[[Call], bool]]] = {
    "bcast, more than 5,000 elements": (find("bcast", "chain"), lambda call: call.elements > 5000),
    "scan, more than 5,000 elements": (find("scan", "recursive_doubling"), lambda call: call.elements > 5000),
    "reduce, 8,193 elements or more": (find("reduce", "rabenseifner"), lambda call: call.elements >= 8193),
    "alltoallv, large blocks": (find("alltoallv", "pairwise"), lambda call: max(call.counts, default=0) > 5000),
    "allgatherv, a large block and an empty one": (
        find("allgatherv", "ring"),
        lambda call: max(call.counts) > 5000 and min(call.counts) == 0,
    ),
    "gatherv, large blocks": (find("gatherv", "binomial"), lambda call: max(call.counts) > 5000),
    "inter allreduce, more than 5,000 elements": (
        find("allreduce", "even_cut", kind="inter"),
        lambda call: call.elements > 5000,
    ),
    "inter alltoallv, large blocks": (
        find("alltoallv", "pairwise", kind="inter"),
        lambda call: max(call.counts, default=0) > 5000,
    ),
    "bcast, k = 5": (find("bcast", "knomial"), lambda call: call.options.get("k") == 5),
    "gather, k = 7": (find("gather", "knomial"), lambda call: call.options.get("k") == 7),
    "alltoall, radix = 6": (find("alltoall", "bruck"), lambda call: call.options.get("radix") == 6),
    "allgather, k = 1": (find("allgather", "k_ring"), lambda call: call.options.get("k") == 1),
    "allreduce, the other value of a word": (
        find("allreduce", "rabenseifner"),
        lambda call: call.options.get("remaining") == "odd",
    ),
    "bcast, many segments of many bytes": (
        find("bcast", "two_tree"),
        lambda call: 1000 < call.options.get("segment_bytes", 0) < call.elements,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", FEW_RANKS.values(), ids=list(FEW_RANKS))
def test_mistakes_of_long_messages_and_parameters_are_found(mutant: Any) -> None:
    """On up to 4 ranks."""
    correct, condition = mutant
    (first, *_) = collectives.verify(wrong_when(correct, condition), Emulator(), ranks=4, cases=150)
    assert first.kind in ("result", "input")


@pytest.mark.slow
def test_mistakes_of_sorts_and_splits_on_many_ranks_and_of_parameters_are_found() -> None:
    """They return values instead of filling buffers."""
    sort, split = find("sort", "bitonic", kind="chain"), find("split", "hash")

    def unsorted(chain: Any, item: bytes, **options: Any) -> Any:
        ordered = sort.run(chain, item, **options)
        return item if chain.size == 37 else ordered

    def together(comm: Any, color: Any, key: Any, **options: Any) -> Any:
        return split.run(comm, None if options.get("bits") == 5 else color, key, **options)

    assert [each.p for each in collectives.verify(replace(sort, run=unsorted), Emulator(), cases=1)] == [37]
    (only,) = collectives.verify(replace(split, run=together), Emulator(), ranks=3, cases=90)
    assert (only.kind, only.case.parameters) == ("result", {"bits": 5})


def test_the_items_of_a_split_with_keys_include_those_of_the_sort() -> None:
    """With two bins, the sort by keys needs more than the tables of the scan."""
    case = SplitCase(9, 25, colors=(0,) * 9, keys=(0,) * 9, parameters={"bits": 1})
    with Emulator() as machine:
        assert list(find_faults(find("split", "hash"), case, machine, [EXACT])) == []
        too_few = replace(find("split", "hash"), holds=lambda case: 9 if case.parameters["reorder"] else 99)
        assert [fault.kind for fault in find_faults(too_few, case, machine, [EXACT])] == ["holds"]


@for_each("name", ["split/cheng", "split/hash", "split/radix", "sort/bitonic"])
def test_sorts_and_splits_on_many_ranks_move_data(name: str) -> None:
    """A split into groups of one rank, or a sort of sorted numbers, would hide every mistake on that number of ranks."""
    operation, _, name = name.partition("/")
    algorithm = find(operation, name, kind="chain" if operation == "sort" else "split")
    cases = [job.case for job in make_jobs(algorithm, None, 1, ("greenlets",)) if job.case.p > 17]
    assert [case.p for case in cases] == [p for p in (*range(18, 41), 63, 64, 65) for _ in range(2 if p < 41 else 1)]
    for case in cases:
        if isinstance(case, SplitCase):
            assert max(Counter(color for color in case.colors if color is not UNDEFINED).values()) > 1, case
        else:
            assert isinstance(case, SortCase)
            assert any(a > b for a, b in pairwise(case.numbers)), case


@for_each("name", ["bcast/knomial", "inter:reduce_scatter/even_cut"])
def test_the_default_plan_has_many_ranks_and_long_messages(name: str) -> None:
    """Numbers of ranks up to 40, several roots, and blocks of more than 64 KiB, in a limited number of cases."""
    algorithm = find_algorithm(name)
    jobs = make_jobs(algorithm, None, CASES, ("greenlets", "threads"))
    assert jobs == make_jobs(algorithm, None, CASES, ("greenlets", "threads"))
    assert len(jobs) < 2 * CASES
    accepted = [job.case for job in jobs if not job.rejected]
    assert {case.ranks for case in accepted} >= {*range(2 if algorithm.kind == "inter" else 1, 41)}
    many = [case for case in accepted if case.ranks > 17]
    assert max(map(largest_block, many)) >= LONG_ELEMENTS
    assert algorithm.operation != "bcast" or {case.root > 0 for case in many} == {False, True}
    long = [case for case in accepted if largest_block(case) * case.itemsize >= LONG_BYTES]
    assert len(long) > 30
    assert all(possible(algorithm.operation, case) for case in accepted)


def test_radices_segment_sizes_and_words_of_messages_are_tried() -> None:
    """Also values of a user-defined parameter that a message about a wrong value names, and the smallest accepted one."""

    def why_unsupported(case: Case) -> str | None:
        way, width = case.parameters.get("way", "up"), case.parameters.get("width", 20)
        known = "up", "down", "around"
        return f"way is {way!r}, not one of {', '.join(known)}" if way not in known else "too narrow" * (width < 1) or None

    custom = replace(find("bcast", "binomial"), parameters={"way": "up", "width": 20}, why_unsupported=why_unsupported)
    assert parameter_choices(custom) == [
        {}, {"way": "down"}, {"way": "around"}, *({"width": width} for width in (1, 2, 3, 4, 5, 6, 7, 8, 10, 21, 41))
    ]  # fmt: skip
    jobs = make_jobs(find("bcast", "knomial"), None, CASES, ("greenlets",))
    assert {job.case.parameters.get("k", 4) for job in jobs if not job.rejected} >= {*range(2, 11), 15, 16, 17, 63, 64, 65}
    jobs = make_jobs(find("bcast", "chain"), None, CASES, ("greenlets",))
    sizes = {job.case.parameters.get("segment_bytes", 65536) for job in jobs}
    assert {1, 24, 100, 65536} < sizes
    assert any(1000 < size < 65536 for size in sizes)


def test_a_long_case_has_the_same_number_of_segments() -> None:
    """All sizes are multiplied by one number; blocks of many ranks get elements of one byte."""
    short = Case(3, 8 * 10, root=2, itemsize=8, parameters={"segment_bytes": 24, "k": 3})
    assert lengthened(short, "bcast") == replace(short, m=80 * 820, parameters={"segment_bytes": 24 * 820, "k": 3})
    assert lengthened(Case(2, counts=(0, 3), itemsize=16), "allgatherv") == Case(2, counts=(0, 8193), itemsize=16)
    assert lengthened(Case(40, 16, itemsize=16), "alltoall") == Case(40, 8193)
    assert lengthened(Case(40), "bcast") is None


@pytest.mark.slow
def test_long_cases_have_a_limited_number_of_messages() -> None:
    """A block size of a few bytes, computed from the smallest block, would cut a long message into 10,000 pieces."""
    ring = find("allgatherv", "blocked_ring")
    fine = Case(4, counts=(0, 5, 5, 5), itemsize=4, parameters={"block_bytes": smallest(at_least=7)})
    long = lengthened(fine, "allgatherv")
    assert long is not None
    assert sum(len(transfers) for transfers in ring.schedule_for(long) or ()) > MOST_MESSAGES
    assert long_cases(ring, [fine, replace(fine, parameters={})], 2) == [replace(long, parameters={})]


def test_the_verdict_states_what_was_tried() -> None:
    """Numbers of ranks, sizes and values of parameters, without the cases that are rejected."""
    ring = examine(find("allreduce", "ring"), Emulator(), ranks=3, cases=45)
    assert (ring.ranks, ring.scope) == (3, [
        "ranks: 1-3",
        "largest message or block: 0 to 65,537 elements, 0 to 196,608 bytes; more than 64 KiB in 5 cases",
    ])  # fmt: skip
    assert examine(find("barrier", "wmpi", kind="inter"), Emulator(), ranks=3, cases=9).scope == [
        "ranks: 2-3 in both groups, 1-2 in A, 1-2 in B",
        "barrier: dissemination (default), recursive_doubling, binomial_tree, linear",
        "first: None (default), False, True",
    ]
    assert examine(find("barrier", "linear"), Emulator(), cases=9, seconds=0).scope == ["ranks: 1"]


def test_the_verdict_states_for_which_numbers_of_ranks_all_roots_were_tried() -> None:
    """On many ranks there are a few cases, so a mistake for one root may remain."""
    bcast = find("bcast", "binomial")
    cases = [Case(1), Case(2), Case(2, root=1), Case(3, root=2), Case(4, 8), *(Case(5, root=root) for root in range(5))]
    assert tried_lines(bcast, cases)[:2] == ["ranks: 1-5", "roots: all on 1-2, 5 ranks, some on other numbers of ranks"]
    assert tried_lines(bcast, cases[:3])[1] == "roots: all on 1-2 ranks"
    assert tried_lines(bcast, [Case(3)])[1] == "roots: some on each number of ranks"


def test_values_of_parameters_are_listed_with_the_default_first() -> None:
    """Many numbers are a range, and lists of nodes are counted."""
    knomial = replace(find("bcast", "knomial"), parameters={"k": 4, "nodes": 1, "segment_bytes": 65536, "bcast": None})
    cases = [Case(1, parameters={"k": k, "nodes": (k, 1), "segment_bytes": 1000 * k}) for k in range(2, 16)]
    assert tried_lines(knomial, [Case(1, parameters={"bcast": find("bcast", "chain")}), *cases])[3:] == [
        "k: 4 (default), 13 values from 2 to 15",
        "nodes: 1 (default), 14 lists or functions",
        "segment_bytes: 65,536 (default), 14 values from 2,000 to 15,000",
        "bcast: None (default), chain",
    ]
    assert tried_lines(knomial, [Case(1, parameters={"k": 4})])[3] == "k: 4 (default)"
    assert tried_lines(knomial, []) == []


def test_large_cases_shrink_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 20,000 elements to the smallest number that fails."""
    monkeypatch.setattr("collectives.verification.shrinking.MAX_TRIES", 400)
    assert shrunk(Case(3, 20_000 * 8, itemsize=8), "bcast", lambda case: case.m // case.itemsize > 5000) == Case(1, 5001)
    counts = Case(3, counts=(0, 20_000, 70_000))
    assert shrunk(counts, "gatherv", lambda case: max(case.counts or ()) > 5000) == Case(2, counts=(0, 5001))
