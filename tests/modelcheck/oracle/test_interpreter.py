"""The interpreter: programs whose outcomes can be counted by hand, and the quick search compared with the full one.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.modelcheck.oracle.generator import generated
from tests.modelcheck.oracle.interpreter import END, Interpreter, Invalid, TooLarge, check, outcomes
from tests.modelcheck.oracle.program import ANY, LAST, Op, Program
from tests.modelcheck.oracle.shrink import shrunk

SENDS_TO_0 = (Op("send", peer=0),)


def seen(program: Program, rank: int, eager: int | None = None, **options: Any) -> set[Any]:
    """The observations of a rank, and its position at the end."""
    return {outcome.ranks[rank] for outcome in outcomes(program, eager, **options)}


def test_a_wildcard_takes_the_first_message_of_either_sender() -> None:
    """Messages of one sender stay in order."""
    two = (Op("send", peer=0, value=1), Op("send", peer=0, value=2))
    takes = tuple(Op("recv", peer=ANY) for _ in range(3))
    found = seen(Program((takes, two, (Op("send", peer=0, value=3),))), 0)
    orders = {tuple(content[0] for _, content in observed) for observed, _ in found}
    assert orders == {(1, 2, 3), (1, 3, 2), (3, 1, 2)}


def test_a_receive_that_was_posted_first_is_served_first() -> None:
    """A named receive waits for the message that the wildcard before it takes."""
    mine = (Op("irecv", peer=ANY, slots=(1,)), Op("recv", peer=1), Op("waitall", slots=(1,)))
    found = seen(Program((mine, (Op("send", peer=0, value=1),), (Op("send", peer=0, value=2),))), 0)
    assert found == {(((1, (1, 1)), (2, ((2, 1),))), END), ((), 1)}  # or the wildcard takes the only message of rank 1


def test_sends_wait_for_their_receive_by_size() -> None:
    """Two ranks that send before they receive."""
    program = Program(tuple((Op("send", peer=1 - me, size=8), Op("recv", peer=1 - me)) for me in range(2)))
    blocked = {eager: {one.blocked for one in outcomes(program, eager)} for eager in (0, 7, 8, None)}
    assert blocked == {0: {True}, 7: {True}, 8: {False}, None: {False}}


def test_buffered_messages_without_a_receive_are_lost() -> None:
    """Otherwise the sender never completes."""
    program = Program(((), SENDS_TO_0))
    assert [one.lost for one in outcomes(program, None)] == [{(1, 0)}]
    assert [one.blocked for one in outcomes(program, 0)] == [True]


def test_a_reduction_lets_ranks_leave_early_unless_it_synchronizes() -> None:
    """Rank 1 sends to the root only after the reduction."""
    program = Program(((Op("recv", peer=1), Op("reduce", peer=0)), (Op("reduce", peer=0, value=2), Op("send", peer=0))))
    assert [one.blocked for one in outcomes(program, None, "minimal")] == [False]
    assert [one.blocked for one in outcomes(program, None, "synchronizing")] == [True]
    assert {one.blocked for one in outcomes(program, None, "any")} == {False, True}


def test_a_poll_may_be_unsuccessful_unless_a_probe_has_seen_the_message() -> None:
    """MPI 4.1, 3.8.1."""
    polls = (Op("iprobe", peer=ANY, tag=ANY), Op("iprobe", peer=ANY, tag=ANY))
    flags = {tuple(flag for _, flag, _ in observed) for observed, _ in seen(Program((polls, SENDS_TO_0)), 0)}
    assert flags == {(False, False), (False, True), (True, True)}


def test_a_receive_after_a_probe_may_take_another_message() -> None:
    """MPI 4.1, 3.8.1, the example with MPI_ANY_SOURCE."""
    mine = (Op("probe", peer=ANY, status=True), Op("recv", peer=ANY, status=True), Op("recv", peer=ANY))
    found = {(observed[0][1][0], observed[1][1][2]) for observed, _ in seen(Program((mine, SENDS_TO_0, SENDS_TO_0)), 0)}
    assert found == {(1, 1), (1, 2), (2, 1), (2, 2)}


def test_a_synchronous_send_waits_for_the_receive_and_not_for_the_probe() -> None:
    """Rank 1 sends the second message, which rank 0 needs before it receives the first one."""
    mine = (Op("mprobe", peer=1, slots=(1,)), Op("recv", peer=1, tag=1), Op("mrecv", slots=(1,)))
    found = outcomes(Program((mine, (Op("ssend", peer=0), Op("send", peer=0, tag=1)))), None)
    assert [one.blocked for one in found] == [True]


def test_waitany_gives_any_and_waitsome_any_set() -> None:
    """Of the complete requests, which may be fewer than all."""
    posts = tuple(Op("irecv", peer=i, slots=(i,)) for i in (1, 2))
    for what, count in (("waitany", 2), ("waitsome", 3)):
        mine = (*posts, Op(what, slots=(1, 2)), Op("waitall", slots=(1, 2)))
        assert len(seen(Program((mine, SENDS_TO_0, SENDS_TO_0)), 0)) == count


def test_branches_depend_on_received_values() -> None:
    """A value is passed on."""
    mine = (Op("recv", peer=ANY), Op("if", peer="last", value=2, then=(Op("fail"),), other=(Op("recv", peer=ANY),)))
    program = Program((mine, (Op("send", peer=0, value=1),), (Op("send", peer=0, value=2),)))
    assert {one.failed for one in outcomes(program, None)} == {None, 0}
    relay = (Op("recv", peer=0), Op("send", peer=0, value=LAST))
    assert seen(Program(((Op("send", peer=1, value=7), Op("recv", peer=1)), relay)), 0) == {(((1, (7, 1)),), END)}


def test_collective_calls_that_differ_are_rejected() -> None:
    """A rank that does not exist is rejected as well."""
    with pytest.raises(Invalid, match="collective calls differ"):
        outcomes(Program(((Op("barrier"),), (Op("allreduce"),))), None)
    with pytest.raises(Invalid, match="not there"):
        check(Program(((Op("send", peer=1),),)))


@pytest.mark.sample
@pytest.mark.slow
def test_the_quick_search_finds_the_outcomes_of_the_search_over_all_orders() -> None:
    """Steps that commute with all others need not be tried in every order."""
    compared = 0
    for number in range(60):
        program = generated(1, number)
        for eager, collectives in ((0, "minimal"), (8, "synchronizing")):
            try:
                every = Interpreter(program, eager, collectives, most=1500, quick=False).outcomes()
            except (Invalid, TooLarge):
                continue
            assert Interpreter(program, eager, collectives).outcomes() == every, program
            compared += 1
    assert compared > 40


def test_programs_are_shrunk_to_the_relevant_operations() -> None:
    """All other operations are removed."""
    program = Program(((Op("barrier"), Op("recv", peer=ANY, status=True)), (Op("barrier"), Op("send", peer=0, size=8)), ()))
    small = shrunk(program, lambda one: any(op.what == "recv" for ops in one.ranks for op in ops))
    assert small == Program(((Op("recv", peer=ANY),),))
