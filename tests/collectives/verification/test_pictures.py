"""The round where paper and run part."""

from __future__ import annotations

from collectives.catalogue.schedule import Round, Served, Streams, Transfer
from collectives.verification.machine import Message, Setting
from collectives.verification.picture import beside, parting, rounds_ended, table

COSTS = Setting(t_s=10, t_w=1)
PLAN: list[Round] = [[Transfer(0, 2, 5)], [Transfer(0, 1, 5), Transfer(2, 3, 5)]]
RUN = [Message(0, 2, 5, 0, 15), Message(0, 1, 5, 15, 30), Message(2, 3, 5, 15, 30)]


def test_nothing_parts_where_all_is_as_planned() -> None:
    """Whatever the order in which senders are listed."""
    assert parting(PLAN, RUN, 4, COSTS) is None
    assert parting(PLAN, [RUN[0], RUN[2], RUN[1]], 4, COSTS) is None


def test_another_message_parts() -> None:
    """To somebody else, or longer."""
    found = parting(PLAN, [RUN[0], RUN[1], Message(2, 3, 6, 15, 31)], 4, COSTS)
    assert found is not None
    assert found[0] == 2
    assert beside(found[1]) == [
        "rank   on paper       in the run",
        "0      5 bytes to 1   5 bytes to 1",
        "1      nothing        nothing",
        "2      5 bytes to 3   6 bytes to 3   <",
        "3      nothing        nothing",
    ]


def test_a_message_at_another_time_parts_unless_messages_are_buffered() -> None:
    """Then times are not compared."""
    late = [RUN[0], RUN[1], Message(2, 3, 5, 16, 31)]
    found = parting(PLAN, late, 4, COSTS)
    assert found is not None
    assert [row.run for row in found[1] if row.differs] == ["5 bytes to 3 at 16"]
    assert parting(PLAN, late, 4, COSTS._replace(eager_limit=64)) is None


def test_a_message_that_is_not_on_paper_parts() -> None:
    """After a sender's last one."""
    found = parting(PLAN, [*RUN, Message(0, 3, 1, 30, 41)], 4, COSTS)
    assert found is not None
    assert (found[0], found[1][0].paper, found[1][0].run) == (3, "nothing", "1 byte to 3")


def test_who_serves_who_is_ready_may_do_so_in_any_order() -> None:
    """And streams have times that a round has not."""
    served: list[Round] = [Served([Transfer(0, 1, 5), Transfer(0, 2, 6)])]
    assert parting(served, [Message(0, 2, 6, 0, 16), Message(0, 1, 5, 16, 31)], 3, COSTS) is None
    streams: list[Round] = [Streams([Transfer(0, 1, 5), Transfer(0, 2, 6)], [(0, 1), (0, 2)])]
    assert parting(streams, [Message(0, 1, 5, 9, 24), Message(0, 2, 6, 24, 40)], 3, COSTS) is None


def test_many_ranks_are_told_in_short() -> None:
    """Only those that differ."""
    plan: list[Round] = [[Transfer(r, (r + 1) % 40, 1) for r in range(40)]]
    run = [Message(r, (r + 1) % 40, 1 + (r == 7), 0, 11) for r in range(40)]
    found = parting(plan, run, 40, COSTS)
    assert found is not None
    assert beside(found[1])[1:] == ["7      1 byte to 8   2 bytes to 8   <", "and 39 more ranks"]


def test_many_rounds_are_told_in_short() -> None:
    """The first and the last."""
    lines = rounds_ended([[Transfer(0, 1, 1)]] * 30, 2, COSTS)
    assert len(lines) == 14
    assert lines[-1].split() == ["30", "1", "330"]


def test_columns_are_as_wide_as_they_must_be() -> None:
    """And no line ends in blanks."""
    assert table(["a", "b"], [["1", "long"], ["22", ""]]) == ["a    b", "1    long", "22"]
