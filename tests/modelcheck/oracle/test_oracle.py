"""`explore` agrees with the interpreter on random programs; `python -m tests.modelcheck.oracle 5000` compares more."""

from __future__ import annotations

import pytest

from tests.helpers.breadth import breadth
from tests.modelcheck.oracle.campaign import Campaign
from tests.modelcheck.oracle.compare import MODES, compared
from tests.modelcheck.oracle.program import ANY, Op, Program


def compare(campaign: Campaign, numbers: range) -> None:
    """Compare these programs: none disagrees, and most searches are exhausted, so that all is compared."""
    for number in numbers:
        problem = campaign.compare(number)
        assert problem is None, f"program {number} of seed {campaign.seed}: {problem}"
    assert campaign.programs > 0.9 * len(numbers)
    assert campaign.exhausted.total() > 0.8 * campaign.searches.total()


def test_explore_agrees_with_the_oracle() -> None:
    """Without buffering, where most deadlocks are."""
    campaign = Campaign(0, MODES[:1])
    compare(campaign, range(60))
    assert min(campaign.peeks) > 3  # buffers that were read too early, without and with data


@pytest.mark.sample
@pytest.mark.slow
def test_explore_agrees_with_the_oracle_in_every_mode() -> None:
    """Buffering of all sends and by size, collective calls that synchronize, and the search without reductions."""
    compare(Campaign(0), range(100, 116))


PROBES = Program((
    (Op("irecv", peer=ANY, slots=(1,)), Op("mprobe", peer=1, slots=(2,)),
     Op("mrecv", slots=(2,)), Op("waitall", slots=(1,))),
    (Op("send", peer=0),),
    (Op("send", peer=0),),
))  # fmt: skip
"""Equal messages, and a pending probe that names one of the senders: the receive may take the other one's."""

EARLY_READ = Program((
    (Op("recv", peer=1, tag=1), Op("irecv", peer=1, slots=(1,)), Op("peek", slots=(1,)), Op("waitall", slots=(1,))),
    (Op("send", peer=0), Op("send", peer=0, tag=1)),
))  # fmt: skip
"""The message is there before the receive is posted, if it is buffered."""

SIZES = Program((
    (),
    (Op("recv", peer=ANY),),
    (Op("send", peer=0), Op("isend", peer=1, size=64, slots=(1,)), Op("waitall", slots=(1,))),
))  # fmt: skip
"""The larger message is sent only if the smaller one is buffered."""


@pytest.mark.parametrize("program", [PROBES, SIZES, EARLY_READ])
def test_programs_that_disagreed_once(program: Program) -> None:
    """In every mode."""
    assert [problem for mode in MODES if (problem := compared(program, mode).problem)] == []


@pytest.mark.slow
def test_explore_agrees_with_the_oracle_on_many_programs() -> None:
    """The same, on other programs."""
    compare(Campaign(0), range(10_000, 10_000 + breadth(100, 600)))
