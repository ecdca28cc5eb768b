"""GOAL as LogGOPSim and ATLAHS write it: comments, white space, the order of statements, missing tags, cpu and nic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collectives import Case, find
from collectives.schedules import InvalidScheduleError, Schedule, goal, json_format, msccl, record

PLAIN = """num_ranks 2
rank 0 {
l1: send 8b to 1 tag 0
l2: calc 100
l2 requires l1
l3: recv 4b from 1 tag 5
l3 irequires l2
}
rank 1 {
l1: recv 8b from 0 tag 0
l2: send 4b to 0 tag 5
l2 requires l1
}
"""


def steps(text: str) -> Schedule:
    return goal.read(text)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", " "),
        "\n" * 200_000 + PLAIN + " " * 200_000,
        PLAIN.replace(" ", "\n"),
        PLAIN.replace(" ", "\t \n\t"),
        PLAIN.replace("\n", " // the rest of the line: } rank 7 {\n"),
        PLAIN.replace("\n", "\n/* several\nlines of } text */\n"),
        PLAIN.replace(" ", "/**/"),
        PLAIN.replace(": ", " : ").replace("8b", "8 b").replace(" {", "{").replace("calc 100", "calc 100 cpu 0"),
        PLAIN.replace(" tag 0", "").replace("tag 5", "cpu 0 nic 0 tag 5"),
        PLAIN.replace(" tag 0", " tag 0 cpu 0 nic 0"),
        PLAIN.replace("calc 100\nl2 requires l1", "calc 100 requires l1"),
        PLAIN.replace("tag 5\nl3 irequires l2", "tag 5 irequires l2"),
    ],
)
def test_equal_schedules(text: str) -> None:
    """The text of PLAIN, written in another way, is the same schedule."""
    assert steps(text) == steps(PLAIN)


def test_the_steps_of_the_plain_text() -> None:
    first, second = steps(PLAIN).steps
    assert [str(step) for step in first] == [
        "send 8 bytes to rank 1, tag 0", "compute 1e-07 s", "receive 4 bytes from rank 1, tag 5"
    ]  # fmt: skip
    assert [(step.after, step.after_start) for step in first] == [((), ()), ((0,), ()), ((), (1,))]
    assert [step.after for step in second] == [(), (0,)]


def test_labels_may_be_used_before_their_operations() -> None:
    text = "num_ranks 1 rank 0 { l2 requires l1 l2: calc 5 requires l3 l1: calc 1 l3: calc 2 }"
    assert [sorted(step.after) for step in steps(text).steps[0]] == [[1, 2], [], []]


def test_operations_without_labels_wait_for_others() -> None:
    schedule = steps("num_ranks 1 rank 0 { a: calc 1 b: calc 2 calc 3 requires a irequires b calc 4 }")
    assert [(step.after, step.after_start) for step in schedule.steps[0]] == [((), ()), ((), ()), ((0,), (1,)), ((), ())]


def test_names_of_attributes_are_labels_too() -> None:
    """LogGOPSim's words that are not at the beginning of a statement may be labels."""
    text = "tag: calc 1 cpu: calc 2 cpu requires tag requires: calc 3 to: calc 4 requires tag"
    schedule = steps(f"num_ranks 1 rank 0 {{ {text} }}")
    assert [step.after for step in schedule.steps[0]] == [(), (0,), (), (0,)]


def test_comments_of_fakempi_survive_other_white_space() -> None:
    schedule = record(find("allreduce", "ring"), Case(p=3, m=12))
    text = goal.write(schedule).replace("\nl", "\n\n  l").replace(" requires", "\n /* x */ requires")
    again = goal.read(text)
    assert again.steps == schedule.steps
    assert again.verify() == []


UNITS = "num_ranks 2\nrank 0 {{\nl1: send 8b to 1{}\nl2: calc 5{}\n}}\nrank 1 {{\nrecv 8b from 0\n}}\n"


@pytest.mark.parametrize(("send", "calc"), [("", ""), (" cpu 3", " cpu 3"), (" cpu 1 nic 2", ""), (" nic 255", " cpu 255")])
def test_cpus_and_nics(send: str, calc: str) -> None:
    """They are read, and survive the other formats that have them."""
    schedule = steps(UNITS.format(send, calc))
    sends, computes = schedule.steps[0]
    given = [int(word) for word in f"{send} {calc}".split() if word.isdigit()]
    assert {number for number in (sends.cpu, sends.nic, computes.cpu) if number} == {*given}
    assert computes.nic == 0
    for form in (goal, json_format):
        assert form.read(form.write(schedule)).steps == schedule.steps


@pytest.mark.parametrize(
    ("send", "message"),
    [(" cpu 256", "line 3, column 22: cpu must be at most 255"), (" nic -1", "line 3, column 22: nic must not be negative")],
)
def test_numbers_of_cpus_and_nics_are_limited(send: str, message: str) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        steps(UNITS.format(send, ""))


def test_what_has_one_cpu_and_one_nic_refuses_several() -> None:
    """MSCCL has no word for them, and a rank that calls a collective operation has one of each."""
    several = steps(UNITS.format("", " cpu 1"))
    with pytest.raises(InvalidScheduleError, match="several cpus or nics, but a rank that calls"):
        replace(several, operation="barrier").algorithm()
    ring = record(find("allreduce", "ring"), Case(p=3, m=12))
    rails = [[replace(step, nic=index % 2) for index, step in enumerate(program)] for program in ring.steps]
    with pytest.raises(InvalidScheduleError, match="MSCCL has no cpu and no nic"):
        msccl.write(replace(ring, steps=rails))
    one = [[replace(step, nic=3, cpu=2) for step in program] for program in ring.steps]
    assert msccl.read(msccl.write(replace(ring, steps=one))).verify() == []
    assert replace(ring, steps=one).algorithm().time(Case(p=3, m=12), 1, 1) == ring.algorithm().time(Case(p=3, m=12), 1, 1)
