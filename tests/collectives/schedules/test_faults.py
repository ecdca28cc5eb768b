"""Small wrong schedules: every kind of fault, with rank, step, chunk and contribution in its message."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collectives import Case, find
from collectives.schedules import Fault, InvalidScheduleError, Range, Schedule, Step, goal, record


def out(start: int = 0, size: int = 4) -> Range:
    return Range("output", start, size)


IN = Range("input", 0, 4)


def send(peer: int, where: Range = IN, **options: Any) -> Step:
    return Step("send", peer, source=where, **options)


def recv(peer: int, where: Range, **options: Any) -> Step:
    return Step("recv", peer, target=where, **options)


def schedule(*steps: list[Step], output: int = 4, operation: str = "allreduce", **options: Any) -> Schedule:
    buffers = [{"input": 4, "output": output, "scratch": 4} for _ in steps]
    return Schedule(len(steps), steps, buffers, operation=operation, **options)


def only(faults: list[Fault]) -> Fault:
    assert len(faults) == 1, faults
    return faults[0]


SCRATCH = Range("scratch", 0, 4)
COPY = Step("copy", source=IN, target=out())


def exchange(peer: int) -> list[Step]:
    """A right allreduce of two ranks."""
    return [COPY, send(peer), recv(peer, SCRATCH), Step("reduce", source=SCRATCH, target=out(), after=(0, 2))]


def test_a_right_schedule_has_no_faults() -> None:
    assert schedule(exchange(1), exchange(0)).verify() == []


def test_a_missing_dependency_is_a_race() -> None:
    """The reduction may run before the message is there."""
    wrong = [*exchange(0)[:3], Step("reduce", source=SCRATCH, target=out(), after=(0,))]
    fault = only(schedule(exchange(1), wrong).verify())
    assert (fault.kind, fault.rank, fault.step, fault.where) == ("race", 1, 3, "scratch[0:4]")
    assert "rank 1, step 3" in str(fault)
    assert "rank 1, step 2" in str(fault)


def test_a_race_that_another_rank_orders_is_none() -> None:
    """Rank 1 answers only after it has received, so rank 0's second step is ordered by messages."""
    first = [send(1, SCRATCH, after=(2,)), recv(1, SCRATCH), Step("copy", source=IN, target=SCRATCH)]
    second = [recv(0, SCRATCH), send(0, SCRATCH, after=(0,))]
    both = Schedule(2, [first, second], [{"input": 4, "output": 4, "scratch": 4}] * 2)
    assert {fault.kind for fault in both.verify("barrier")} == {"race"}  # the copy and the receive are not ordered
    ordered = replace(both, steps=[[first[0], replace(first[1], after=(2,)), first[2]], second])
    races = [fault for fault in ordered.verify("barrier") if fault.kind == "race"]
    assert [fault.step for fault in races] == [1]  # a send without buffering may still read while the answer is written


def test_sends_that_wait_for_each_other_are_a_deadlock_without_buffering() -> None:
    def both(peer: int) -> list[Step]:
        return [send(peer), recv(peer, SCRATCH, after=(0,)), COPY,
                Step("reduce", source=SCRATCH, target=out(), after=(1, 2))]  # fmt: skip

    one = schedule(both(1), both(0))
    assert [(fault.kind, fault.rank, fault.step) for fault in one.verify()] == [("deadlock", 0, 0), ("deadlock", 1, 0)]
    assert replace(one, buffering="infinite").verify() == []


def test_messages_without_partner_and_of_other_sizes() -> None:
    alone = schedule([*exchange(1), send(1)], exchange(0)).verify()
    assert only(alone).kind == "unmatched"
    assert "rank 0, step 4" in str(only(alone))
    buffered = schedule([*exchange(1), send(1)], exchange(0), buffering="infinite").verify()
    assert only(buffered).kind == "unmatched"
    short = [COPY, send(0, Range("input", 0, 2)), *exchange(0)[2:]]
    assert only(schedule(exchange(1), short).verify()).kind == "size"


def test_messages_of_one_channel_in_any_order() -> None:
    """Two sends with one tag that are not ordered: timing decides which one matches first."""
    first = [send(1, Range("input", 0, 2)), send(1, Range("input", 2, 2))]
    second = [recv(0, out(0, 2)), recv(0, out(2, 2), after_start=(0,))]
    one = schedule(first, second, operation="broadcast")
    fault = only([fault for fault in one.verify() if fault.kind == "order"])
    assert (fault.rank, fault.step) == (0, 1)
    in_order = [first[0], replace(first[1], after_start=(0,))]
    kinds = [fault.kind for fault in schedule([*in_order, COPY], second, operation="broadcast").verify()]
    assert kinds == []
    tags = [[replace(step, tag=tag) for tag, step in enumerate(steps)] for steps in (first, second)]
    assert schedule([*tags[0], COPY], tags[1], operation="broadcast").verify() == []


def test_wrong_contents() -> None:
    """Each message names the chunk, the contribution, and the step that writes it last."""
    right = exchange(0)
    cases = {
        "missing": [*right[:3], Step("copy", source=SCRATCH, target=out(), after=(0, 2))],
        "duplicate": [*right, Step("reduce", source=SCRATCH, target=out(), after=(3,))],
        "overwritten": [*right, Step("copy", source=SCRATCH, target=IN, after=(1, 3))],
    }
    for kind, steps in cases.items():
        fault = only(schedule(exchange(1), steps).verify())
        where = "input[0:4]" if kind == "overwritten" else "output[0:4]"
        assert (fault.kind, fault.rank, fault.step, fault.where) == (kind, 1, len(steps) - 1, where)
        assert f"rank 1, step {len(steps) - 1} writes it last" in str(fault)
    assert "lacks the contribution input[0:4] of rank 1" in str(only(schedule(exchange(1), cases["missing"]).verify()))
    assert "input[0:4] of rank 0 2 times" in str(only(schedule(exchange(1), cases["duplicate"]).verify()))
    extra = replace(schedule(exchange(1), exchange(0)), root=1).verify("broadcast")
    assert [(fault.kind, fault.rank) for fault in extra] == [("extra", 0), ("extra", 1)]


def test_memory_that_is_read_before_it_is_written() -> None:
    first = [COPY, recv(1, SCRATCH), Step("reduce", source=SCRATCH, target=out(), after=(0, 1))]
    fault = schedule(first, [COPY, send(0, SCRATCH)]).verify()[0]
    assert (fault.kind, fault.rank, fault.step, fault.where) == ("undefined", 1, 1, "scratch[0:4]")


def test_operations_have_several_names_and_unknown_ones_are_refused() -> None:
    ring = record(find("reduce_scatter_block", "ring"), Case(p=3, m=8))
    for name in ("reduce_scatter", "reduce-scatter", "reducescatter", "reduce_scatter_block"):
        assert ring.verify(name) == []
    with pytest.raises(InvalidScheduleError, match="unknown operation 'shuffle'"):
        ring.verify("shuffle")


def test_a_barrier_needs_a_chain_of_messages_between_all_pairs() -> None:
    barrier = record(find("barrier", "dissemination"), Case(p=5))
    assert barrier.verify() == []
    for rank, steps in enumerate(barrier.steps):
        for index, step in enumerate(steps):
            if step.kind == "recv":
                nothing = replace(step, kind="compute", peer=-1)
                changed = [nothing if at == index else one for at, one in enumerate(steps)]
                all_steps = [changed if r == rank else one for r, one in enumerate(barrier.steps)]
                assert replace(barrier, steps=all_steps).verify() != []
    assert {fault.kind for fault in Schedule(2, [[], []], [{}, {}]).verify("barrier")} == {"missing"}


def test_goal_files_without_ranges_are_verified_as_far_as_sizes_allow() -> None:
    text = "num_ranks 3\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n%s}\nrank 2 {\n%s}\n"
    right = goal.read(text % ("l2: send 8b to 2 tag 0\nl2 requires l1\n", "l1: recv 8b from 1 tag 0\n"))
    assert right.verify("broadcast") == []
    early = goal.read(text % ("", ""))
    assert [(fault.kind, fault.rank) for fault in early.verify("broadcast")] == [("missing", 2)]
    assert goal.read("num_ranks 2\nrank 0 {\n}\nrank 1 {\n}\n").verify("broadcast") != []
    with pytest.raises(InvalidScheduleError, match="does not name its operation"):
        right.verify()


def test_an_operation_that_a_file_states(tmp_path: Path) -> None:
    """Rank 0 must end with the sum of both inputs in reverse order, rank 1 with nothing in particular."""
    path = tmp_path / "contract.json"
    entry = {"offset": 0, "bytes": 4, "operands": [[1, 0], [0, 0]]}
    contract = {"format": "fakempi contract", "version": 1, "outputs": [[entry], []]}
    path.write_text(json.dumps(contract))
    both = schedule(exchange(1), [send(0), recv(0, SCRATCH)])
    assert both.verify(str(path)) == []
    assert both.verify(str(path), ordered=True) == []
    reverse = {**contract, "outputs": [[{**entry, "operands": [[0, 0], [1, 0]]}], []]}
    path.write_text(json.dumps(reverse))
    assert both.verify(str(path)) == []
    assert only(both.verify(str(path), ordered=True)).kind == "wrong"
    for bad in ("[1", "{}", json.dumps({**contract, "outputs": [[entry]]}), json.dumps({**contract, "outputs": [[7], []]}),
                json.dumps({**contract, "outputs": [[{**entry, "operands": [[2, 0]]}], []]}),
                json.dumps({**contract, "outputs": [[{**entry, "bytes": 10**30}], []]})):  # fmt: skip
        path.write_text(bad)
        with pytest.raises(InvalidScheduleError, match=r"contract\.json"):
            both.verify(str(path))
    with pytest.raises(InvalidScheduleError, match="No such file"):
        both.verify(str(tmp_path / "none.json"))
