"""Files of counts: the formats, the error messages, and the resulting cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives import Case
from collectives.trials.cases import average, counted_case
from collectives.trials.counts import read_counts
from collectives.trials.parsing import parse_groups, parse_sizes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A path for the counts."""
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
def test_all_formats_are_read(text: str, lists: list[list[int]], file: Path) -> None:
    """Lines, commas, blanks and JSON."""
    file.write_text(text)
    assert read_counts(file) == lists


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "counts.txt contains no counts."),
        ("# nothing\n", "counts.txt contains no counts."),
        ("[]", "counts.txt contains no counts."),
        ("[[], [1]]", "counts.txt: one of the 2 lists is empty."),
        ("1\ntwo", "counts.txt:2: 'two' is not a number: use a form such as 0, 1500, 64k or 1M."),
        ("1, 2.5", "counts.txt:1: '2.5' is not a number: use a form such as 0, 1500, 64k or 1M."),
        ("1\n\n-2", "counts.txt:3: -2 is negative: use 0 or more."),
        ("[1, -2]", "counts.txt: -2 is negative."),
        ('[1, "two"]', 'counts.txt: "two" is not a number of bytes.'),
        ("[1, 2.5]", "counts.txt: 2.5 is not a number of bytes."),
        ("[1, true]", "counts.txt: true is not a number of bytes."),
        (
            "[1, [2]]",
            "counts.txt: the JSON list mixes numbers and lists: use either a list of numbers or a list of lists.",
        ),
        ("[1,\n", "counts.txt:2: invalid JSON: Expecting value."),
    ],
)
def test_invalid_files_are_reported(text: str, error: str, file: Path) -> None:
    """The message is one sentence, with the line number if there is one."""
    file.write_text(text)
    with pytest.raises(ValueError, match=".") as caught:
        read_counts(file)
    assert str(caught.value) == f"{file.parent}/{error}"


@given(lists=st.lists(st.lists(st.integers(0, 2**40), min_size=1, max_size=5), min_size=1, max_size=4))
def test_json_and_lines_are_equivalent(tmp_path_factory: pytest.TempPathFactory, lists: list[list[int]]) -> None:
    """Both formats give the same lists."""
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_text(json.dumps(lists))
    from_json = read_counts(file)
    file.write_text("\n\n".join("\n".join(map(str, each)) for each in lists))
    assert read_counts(file) == from_json == lists


def test_counts_make_cases() -> None:
    """Lists for one group and for two; for alltoallv one list for all ranks, or one per rank."""
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
        ("bcast", [[1]], 1, "bcast has equal blocks: counts are for gatherv, scatterv, allgatherv, reduce_scatter, "),
        ("gatherv", [[1], [2]], 1, "gatherv: 2 lists of counts for 1 group: one list per group is needed."),
        ("gatherv", [[1]], 2, "gatherv: 1 list of counts for 2 groups: one list per group is needed."),
        ("alltoallv", [[1, 2], [3]], 1, "alltoallv: each of the 2 lists must have 2 counts, not 1, 2."),
        (
            "reduce_scatter",
            [[1, 2], [4]],
            2,
            "reduce_scatter: the totals of the two groups must be equal, not 3 and 4 bytes.",
        ),
    ],
)
def test_counts_that_do_not_match_the_operation_are_rejected(
    operation: str, lists: list[list[int]], number: int, error: str
) -> None:
    """The message has the numbers that differ."""
    with pytest.raises(ValueError, match=f"^{error}"):
        counted_case(operation, lists, number)


def test_sizes_and_groups_are_parsed() -> None:
    """A range has the powers of two between its ends; invalid text raises ValueError."""
    assert parse_sizes("0..4,1k") == [0, 1, 2, 4, 1024]
    for read, text, error in [
        (parse_sizes, "4..2", "the range '4..2' decreases from 4 to 2: write the smaller size first."),
        (parse_sizes, "x", "'x' is not a number: use a form such as 0, 1500, 64k or 1M."),
        (parse_groups, "4", "'4' does not specify two non-empty groups: use the form 6+2."),
        (parse_groups, "4+0", "'4+0' does not specify two non-empty groups: use the form 6+2."),
    ]:
        with pytest.raises(ValueError, match=".") as caught:
            read(text)
        assert str(caught.value) == error
