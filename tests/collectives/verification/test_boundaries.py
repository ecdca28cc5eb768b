"""Verification finds mistakes at one value of an argument: a root, a size, a count, a color, a segment size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import collectives
from collectives import Case, find
from collectives.verification.fault import EXACT
from collectives.verification.fault_search import find_faults
from collectives.verification.plan.boundaries import SIZES, roots
from collectives.verification.plan.boundary_cases import boundary_cases, cases_on_more_ranks, sized
from collectives.verification.plan.jobs import CASES, make_jobs
from collectives.verification.plan.tried import tried_lines
from collectives.verification.shrinking import possible
from collectives.verification.sort_and_split import SplitCase
from fakempi.apps.cli.verifying import find_algorithm
from fakempi.apps.emulator import Emulator
from tests.helpers.loops import for_each

Condition = Callable[[Any], bool]
"""Whether a mutant is wrong in a case."""


def segment(case: Case) -> int:
    return int(case.parameters.get("segment_bytes", 65536))


def pairs(case: Case) -> set[int]:
    return {size for row in (*(case.traffic or ()), *(case.traffic_b or ())) for size in row}


def integers(values: Any) -> list[int]:
    return [value for value in values if isinstance(value, int)]


MISTAKES: dict[str, tuple[str, Condition]] = {
    "the last root of 40": ("bcast/knomial", lambda case: case.p == 40 and case.root == 39),
    "the middle root of 40": ("gather/binomial", lambda case: case.p == 40 and case.root == 20),
    "root 1 of 32": ("scatterv/binomial", lambda case: case.p == 32 and case.root == 1),
    "the root at a power of two": ("scatter/binomial", lambda case: case.p == 33 and case.root == 32),
    "one root of few ranks": ("gatherv/binomial", lambda case: case.p == 9 and case.root == 7),
    "the last root of 30, next to a small group": ("inter:bcast/wmpi", lambda case: case.p == 30 and case.root == 29),
    "65,536 bytes": ("bcast/binomial", lambda case: case.m == 65536),
    "a byte more than 128 KiB": ("scan/recursive_doubling", lambda case: case.m == (1 << 17) + 1),
    "a byte less than 1 MiB": ("bcast/scatter_ring_allgather", lambda case: case.m == (1 << 20) - 1),
    "MPICH's 12 KiB": ("bcast/chain", lambda case: case.m == 12288),
    "1,024 elements of 8 bytes": ("allreduce/rabenseifner", lambda case: case.m == 8 * 1024 and case.itemsize == 8),
    "a block of 4,097 bytes": ("allgather/bruck", lambda case: case.m == 4097),
    "a block of 255 bytes": ("alltoall/pairwise", lambda case: case.m == 255),
    "1,024 bytes in group B": ("inter:allgather/two_stage", lambda case: case.m_b == 1024),
    "64 KiB from the root's group": ("inter:bcast/wmpi", lambda case: case.m == 65536),
    "a count of 32,769": ("allgatherv/ring", lambda case: 32769 in case.counts),
    "a last count of 2,047 after an empty block": (
        "allgatherv/bruck",
        lambda case: case.counts[-1] == 2047 and case.counts[0] == 0,
    ),
    "counts with a sum of 16,384": ("gatherv/binomial", lambda case: sum(case.counts) == 16384),
    "a displacement of 8,192": ("scatterv/linear", lambda case: 8192 in accumulate(case.counts)),
    "1,023 elements for a rank": ("reduce_scatter/ring", lambda case: 1023 in case.counts),
    "equal sums of 4,096": ("inter:reduce_scatter/even_cut", lambda case: sum(case.counts) == 4096),
    "2,048 elements between two ranks": ("alltoallv/spread", lambda case: 2048 in pairs(case)),
    "513 elements between two groups": ("inter:alltoallv/pairwise", lambda case: 513 in pairs(case)),
    "a segment as long as the message": ("bcast/chain", lambda case: segment(case) == case.m > 0),
    "a segment that is a byte longer": ("bcast/chain", lambda case: segment(case) == case.m + 1),
    "a third segment of one byte": ("bcast/chain", lambda case: case.m == 2 * segment(case) + 1),
    "a huge segment size": ("reduce/chain", lambda case: segment(case) > 1 << 30),
    "k = 17": ("bcast/knomial", lambda case: case.parameters.get("k") == 17),
    "k = p": ("gather/knomial", lambda case: case.p > 6 and case.parameters.get("k") == case.p),
    "64 ranks": ("barrier/dissemination", lambda case: case.p == 64),
    "129 ranks": ("barrier/dissemination", lambda case: case.p == 129),
    "65 ranks": ("bcast/binomial", lambda case: case.p == 65),
    "63 ranks in a group": ("inter:allreduce/even_cut", lambda case: 63 in (case.p, case.q)),
}

MISTAKES_OF_SPLITS: dict[str, tuple[str, Condition]] = {
    "colors above 1,000": ("split/hash", lambda case: max(integers(case.colors), default=0) > 1000),
    "colors below -1,000": ("split/hash", lambda case: any(-30000 < color < -1000 for color in integers(case.colors))),
    "the color 2^31 - 1": ("split/cheng", lambda case: (1 << 31) - 1 in case.colors),
    "strings": ("split/hash64", lambda case: any(isinstance(color, str) for color in case.colors)),
    "bytes": ("split/bitonic", lambda case: any(isinstance(color, bytes) for color in case.colors)),
    "64 ranks": ("split/sack_gropp", lambda case: case.p == 64),
}


def boundaries_of(name: str) -> list[Any]:
    """Return the cases at boundaries and on more ranks, of an algorithm for which the plan has no other cases."""
    algorithm = find_algorithm(name)
    return [*boundary_cases(algorithm, 40, []), *cases_on_more_ranks(algorithm)]


def wrong_in(case: Case, name: str) -> list[str]:
    """Return the kinds of faults of a case, if the algorithm is wrong on its last rank."""
    correct = find_algorithm(name)

    def run(comm: Any, *args: Any, **options: Any) -> Any:
        arrays = [each for each in args if isinstance(each, np.ndarray)]
        if correct.kind == "split":
            return correct.run(comm, 0 if isinstance(args[0], int) else args[0][:0], *args[1:], **options)
        if not arrays:
            return None
        correct.run(comm, *args, **options)
        for array in arrays:
            array[-1:] += 1
        return None

    with Emulator() as machine:
        assert list(find_faults(correct, case, machine, [EXACT])) == []
        return [fault.kind for fault in find_faults(replace(correct, run=run), case, machine, [EXACT])]


@pytest.mark.quick(4)
@pytest.mark.parametrize("mistake", [*MISTAKES.values(), *MISTAKES_OF_SPLITS.values()], ids=[*MISTAKES, *MISTAKES_OF_SPLITS])
def test_a_mistake_at_one_value_is_found(mistake: tuple[str, Condition]) -> None:
    """The smallest case at this boundary shows it, and is correct without the mistake."""
    name, is_wrong = mistake
    found = [case for case in boundaries_of(name) if is_wrong(case)]
    assert found
    assert {"result", "input", "messages"} & {*wrong_in(min(found, key=lambda case: case.ranks), name)}


def test_mistakes_of_keys_are_found() -> None:
    """Keys above 1,000, near 2^31 and below -32,768 are in cases where their order matters."""
    for name, is_wrong in (
        ("split/bitonic", lambda key: isinstance(key, int) and key > 1000),
        ("split/cheng", lambda key: isinstance(key, int) and key >= 1 << 31),
        ("split/radix", lambda key: key < -32768),
        ("split/gather_scatter", lambda key: isinstance(key, str)),
    ):
        split = find_algorithm(name)

        def run(comm: Any, color: Any, key: Any, split: Any = split, is_wrong: Any = is_wrong, **options: Any) -> Any:
            return split.run(comm, color, (key[:0] if isinstance(key, str) else 0) if is_wrong(key) else key, **options)

        cases = [case for case in boundaries_of(name) if isinstance(case, SplitCase) and any(map(is_wrong, case.keys))]
        with Emulator() as machine:
            assert any([*find_faults(replace(split, run=run), case, machine, [EXACT])] for case in cases), name


@pytest.mark.slow
def test_the_default_plan_has_all_boundaries() -> None:
    """Also those that other cases have, such as the roots of few ranks."""
    mistakes = [*MISTAKES.values(), *MISTAKES_OF_SPLITS.values()]
    for name in {name for name, _ in mistakes}:
        accepted = [job.case for job in make_jobs(find_algorithm(name), None, CASES, ("greenlets",)) if not job.rejected]
        for other, is_wrong in mistakes:
            assert other != name or any(map(is_wrong, accepted)), name


@pytest.mark.slow
@pytest.mark.sample
def test_a_mistake_at_one_size_is_found_on_two_ranks() -> None:
    """By `verify`, with a limit on the number of ranks."""
    bcast = find("bcast", "linear")

    def run(comm: Any, buf: Any, **options: Any) -> None:
        bcast.run(comm, buf, **options)
        if buf.nbytes == 65536:
            buf[-1] += 1

    (only,) = collectives.verify(replace(bcast, run=run), Emulator(), ranks=2)
    assert (only.kind, only.case.m) == ("result", 65536)


@for_each("name", ["gatherv/binomial", "alltoallw/pairwise", "reduce/chain", "inter:reduce_scatter_block/even_cut"])
def test_cases_at_boundaries_are_possible_and_accepted(name: str) -> None:
    """MPI allows each of them, and they do not exceed the number of ranks."""
    algorithm = find_algorithm(name)
    cases = boundary_cases(algorithm, 5, [])
    assert len(cases) > 100
    assert all(case.ranks <= 5 and algorithm.why_unsupported(case) is None for case in cases)
    assert all(possible(algorithm.operation, case) for case in cases)


def test_a_block_or_the_sum_of_all_blocks_has_the_size() -> None:
    """In turn; the block is on the first, the middle or the last rank."""
    blocks = [sized("gatherv", 5, 0, 1000, number).counts for number in range(0, 12, 2)]
    assert {counts.index(1000) for counts in blocks if counts} == {0, 2, 4}
    assert all(sum(sized("gatherv", 5, 0, 1000, number).counts or ()) == 1000 for number in range(1, 13, 2))
    assert {case.root for case in (sized("gatherv", 5, 0, 1000, number) for number in range(9))} == {*roots(5)}


def test_the_verdict_states_the_boundaries_that_were_tried() -> None:
    """All powers of two only if each has both neighbors among the cases."""
    bcast, split = find("bcast", "binomial"), find("split", "hash")
    cases = [Case(4, size, root=number % 4) for number, size in enumerate(SIZES)]
    line = "its sizes include every power of two up to {} bytes, and one byte less and more"
    assert line.format("131,072") in tried_lines(bcast, cases)
    assert line.format("2,048") in tried_lines(bcast, [case for case in cases if case.m != 4097])
    ends = [Case(2), Case(2, root=1), *(Case(p, root=root) for p in (20, 21) for root in (0, 10, p - 1))]
    assert tried_lines(bcast, ends)[1] == "roots: all on 2 ranks, the first, the middle, the last and some others on 20-21"
    lines = tried_lines(split, boundaries_of("split/hash"))
    values = "-9,223,372,036,854,775,808 to 9,223,372,036,854,775,807"
    assert lines[1:3] == [f"colors: {values}, strings, bytes", f"keys: {values}, strings, bytes"]
