"""The first round in which a run differs from the schedule."""

from __future__ import annotations

from collectives.catalogue.schedule import LinearPhase, Round, Streams, Transfer
from collectives.verification.first_difference import first_difference, round_end_times, side_by_side, table
from collectives.verification.machine import RunMessage, Setting

COSTS = Setting(t_s=10, t_w=1)
PLAN: list[Round] = [[Transfer(0, 2, 5)], [Transfer(0, 1, 5), Transfer(2, 3, 5)]]
RUN = [RunMessage(0, 2, 5, 0, 15), RunMessage(0, 1, 5, 15, 30), RunMessage(2, 3, 5, 15, 30)]


def test_a_run_that_follows_the_schedule_has_no_difference() -> None:
    """The order of messages from different senders does not matter."""
    assert first_difference(PLAN, RUN, 4, COSTS) is None
    assert first_difference(PLAN, [RUN[0], RUN[2], RUN[1]], 4, COSTS) is None


def test_a_message_of_another_size_differs() -> None:
    """The table marks its sender."""
    found = first_difference(PLAN, [RUN[0], RUN[1], RunMessage(2, 3, 6, 15, 31)], 4, COSTS)
    assert found is not None
    assert found[0] == 2
    assert side_by_side(found[1]) == [
        "rank   claimed        actual",
        "0      5 bytes to 1   5 bytes to 1",
        "1      nothing        nothing",
        "2      5 bytes to 3   6 bytes to 3   <",
        "3      nothing        nothing",
    ]


def test_start_times_are_compared_unless_messages_are_buffered() -> None:
    """The schedule has no start times for buffered messages."""
    late = [RUN[0], RUN[1], RunMessage(2, 3, 5, 16, 31)]
    found = first_difference(PLAN, late, 4, COSTS)
    assert found is not None
    assert [row.actual for row in found[1] if row.differs] == ["5 bytes to 3 at 16"]
    assert first_difference(PLAN, late, 4, COSTS._replace(eager_limit=64)) is None


def test_a_message_after_the_last_round_is_in_an_additional_round() -> None:
    """The schedule of 2 rounds claims nothing for round 3."""
    found = first_difference(PLAN, [*RUN, RunMessage(0, 3, 1, 30, 41)], 4, COSTS)
    assert found is not None
    assert (found[0], found[1][0].claimed, found[1][0].actual) == (3, "nothing", "1 byte to 3")


def test_served_rounds_allow_any_order_and_streams_any_time() -> None:
    """Neither has start times that the schedule fixes."""
    served: list[Round] = [LinearPhase([Transfer(0, 1, 5), Transfer(0, 2, 6)])]
    assert first_difference(served, [RunMessage(0, 2, 6, 0, 16), RunMessage(0, 1, 5, 16, 31)], 3, COSTS) is None
    streams: list[Round] = [Streams([Transfer(0, 1, 5), Transfer(0, 2, 6)], [(0, 1), (0, 2)])]
    assert first_difference(streams, [RunMessage(0, 1, 5, 9, 24), RunMessage(0, 2, 6, 24, 40)], 3, COSTS) is None


def test_a_table_of_many_ranks_shows_only_ranks_that_differ() -> None:
    """A line counts the other ranks."""
    plan: list[Round] = [[Transfer(r, (r + 1) % 40, 1) for r in range(40)]]
    run = [RunMessage(r, (r + 1) % 40, 1 + (r == 7), 0, 11) for r in range(40)]
    found = first_difference(plan, run, 40, COSTS)
    assert found is not None
    assert side_by_side(found[1])[1:] == ["7      1 byte to 8   2 bytes to 8   <", "and 39 more ranks"]


def test_a_table_of_many_rounds_shows_the_first_and_the_last() -> None:
    """30 rounds: a header, 6 rounds, an ellipsis and 6 rounds."""
    lines = round_end_times([[Transfer(0, 1, 1)]] * 30, 2, COSTS)
    assert len(lines) == 14
    assert lines[-1].split() == ["30", "1", "330"]


def test_table_columns_fit_their_cells() -> None:
    """No line ends in blanks."""
    assert table(["a", "b"], [["1", "long"], ["22", ""]]) == ["a    b", "1    long", "22"]
