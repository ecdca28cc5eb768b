"""One's own counts: how a file may say them, what is refused, and the cases that they make."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives import Case
from collectives.trials.cases import average, counted_case
from collectives.trials.counts import read_counts
from collectives.trials.typed import groups, sizes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where counts are written to."""
    return tmp_path / "counts.txt"


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("5\n0\n3\n", [[5, 0, 3]]),
        ("5, 0, 3", [[5, 0, 3]]),
        ("5 0 3", [[5, 0, 3]]),
        ("5, 0, 3,\n2, 2\n", [[5, 0, 3], [2, 2]]),
        ("# mine\n5 # the first\n4k\n", [[5, 4096]]),
        ("5\n0\n\n3\n", [[5, 0], [3]]),
        ("4\n1,2,3", [[4], [1, 2, 3]]),
        ("[5, 0, 3]", [[5, 0, 3]]),
        ("\n[[5], [2, 2]]", [[5], [2, 2]]),
    ],
)
def test_a_file_says_counts_in_several_ways(text: str, lists: list[list[int]], file: Path) -> None:
    """Lines, commas, blanks, JSON."""
    file.write_text(text)
    assert read_counts(file) == lists


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "counts.txt has no counts in it."),
        ("# nothing\n", "counts.txt has no counts in it."),
        ("[]", "counts.txt has no counts in it."),
        ("[[], [1]]", "counts.txt: one of its 2 lists is empty."),
        ("1\ntwo", "counts.txt line 2: 'two' is not a number of bytes: say 0, 1500, 64k or 1M."),
        ("1, 2.5", "counts.txt line 1: '2.5' is not a number of bytes: say 0, 1500, 64k or 1M."),
        ("1\n\n-2", "counts.txt line 3: -2 is negative."),
        ("[1, -2]", "counts.txt: -2 is negative."),
        ('[1, "two"]', 'counts.txt: "two" is not a number of bytes.'),
        ("[1, 2.5]", "counts.txt: 2.5 is not a number of bytes."),
        ("[1, true]", "counts.txt: true is not a number of bytes."),
        ("[1, [2]]", "counts.txt: numbers stand beside lists of numbers."),
        ("[1,\n", "counts.txt line 2: this is not JSON: Expecting value."),
    ],
)
def test_what_is_no_list_of_counts_is_refused(text: str, error: str, file: Path) -> None:
    """In one sentence, with the line if there are lines."""
    file.write_text(text)
    with pytest.raises(ValueError, match=".") as caught:
        read_counts(file)
    assert str(caught.value) == f"{file.parent}/{error}"


@given(lists=st.lists(st.lists(st.integers(0, 2**40), min_size=1, max_size=5), min_size=1, max_size=4))
def test_json_and_lines_say_the_same(tmp_path_factory: pytest.TempPathFactory, lists: list[list[int]]) -> None:
    """Whatever the counts."""
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_text(json.dumps(lists))
    from_json = read_counts(file)
    file.write_text("\n\n".join("\n".join(map(str, each)) for each in lists))
    assert read_counts(file) == from_json == lists


def test_counts_make_cases() -> None:
    """Of one group and of two; between pairs everybody sends the same, or there is a list for each."""
    assert counted_case("gatherv", [[5, 0, 3]]) == Case(3, counts=(5, 0, 3))
    assert counted_case("allgatherv", [[5, 0], [3]], 2) == Case(2, counts=(5, 0), q=1, counts_b=(3,))
    assert counted_case("alltoallv", [[5, 0]]) == Case(2, traffic=((5, 0), (5, 0)))
    assert counted_case("alltoallw", [[1, 2], [3, 4]]) == Case(2, traffic=((1, 2), (3, 4)))
    between = counted_case("alltoallv", [[1, 2, 3], [4, 5]], 2)
    assert (between.p, between.q, between.traffic_b) == (2, 3, ((4, 5),) * 3)
    cases = Case(3, counts=(5, 0, 3)), Case(2, traffic=((1, 2), (3, 5))), Case(4, 7)
    assert [average(case) for case in cases] == [2, 2, 7]


@pytest.mark.parametrize(
    ("operation", "lists", "number", "error"),
    [
        ("bcast", [[1]], 1, "bcast has blocks of one size: counts are for gatherv, scatterv, allgatherv, reduce_scatter, "),
        ("gatherv", [[1], [2]], 1, "gatherv: there are 2 lists of counts, and 1 group."),
        ("gatherv", [[1]], 2, "gatherv: there are 1 lists of counts, and 2 groups."),
        ("alltoallv", [[1, 2], [3]], 1, "alltoallv: 2 lists must have 2 counts each, not 1, 2."),
        ("reduce_scatter", [[1, 2], [4]], 2, "reduce_scatter: the two groups must have as many bytes, not 3 and 4."),
    ],
)
def test_counts_that_make_no_case_are_refused(operation: str, lists: list[list[int]], number: int, error: str) -> None:
    """With the numbers that clash."""
    with pytest.raises(ValueError, match=f"^{error}"):
        counted_case(operation, lists, number)


def test_sizes_and_groups_are_typed() -> None:
    """Powers of two between two numbers."""
    assert sizes("0..4,1k") == [0, 1, 2, 4, 1024]
    for read, text, error in [
        (sizes, "4..2", "'4..2' goes from 4 down to 2: put the smaller first."),
        (sizes, "x", "'x' is not a number of bytes: say 0, 1500, 64k or 1M."),
        (groups, "4", "'4' is not two groups: say 6+2."),
        (groups, "4+0", "'4+0' is not two groups: say 6+2."),
    ]:
        with pytest.raises(ValueError, match=".") as caught:
            read(text)
        assert str(caught.value) == error
