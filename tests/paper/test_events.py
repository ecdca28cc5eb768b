"""Event by event comes to the same as round by round, and tells what that does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import collectives
import fakempi
from fakempi import MPI
from fakempi.paper import hall
from fakempi.paper.clocks import Costs, Unclear, carried_out
from fakempi.paper.events import played_out
from fakempi.paper.sheets import Size, sheet_of

TEXTS = [
    ("barrier", "dissemination"), ("allgather", "bruck"), ("allgather", "ring"), ("alltoall", "pairwise"),
    ("allreduce", "recursive_doubling"), ("allreduce", "rabenseifner"), ("allreduce", "ring"),
]  # fmt: skip


@settings(max_examples=60)
@given(
    st.sampled_from(TEXTS), st.integers(2, 9), st.sampled_from([8, 64, 72, 360]), st.sampled_from([0, 40, 1000]),
    st.sampled_from([0.0, 1e-9]), st.lists(st.integers(0, 8), min_size=1, max_size=9),
)  # fmt: skip
def test_both_say_the_same_where_both_know(
    text: tuple[str, str], p: int, nbytes: int, eager_limit: int, rate: float, skews: list[int]
) -> None:
    """Ends, ports, counters, and the order in which ranks go on."""
    sheet = sheet_of(collectives.find(*text).run, Size(p, nbytes, 8))
    if sheet is None:
        return
    starts = np.array([5e-7 * skews[rank % len(skews)] for rank in range(p)])
    order = np.argsort(np.argsort(starts, kind="stable"))
    free, costs = np.zeros(p), Costs(1e-6, 1e-9, rate, eager_limit)
    try:
        found = (
            carried_out(sheet.rounds(), starts, order, free, costs, {}),
            played_out(sheet.rounds(), starts, order, free, costs, set(starts.tolist())),
        )
    except Unclear:
        return
    for one, other in zip(*found, strict=True):
        assert one.tolist() == other.tolist()


def test_messages_that_queue_for_a_port_are_on_paper_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that are not cut evenly, and are buffered, come while the port is busy with a longer one."""
    monkeypatch.setattr(hall, "FEWEST", 2)

    def main(comm: Any) -> float:
        comm.Allreduce(np.ones(35), np.zeros(35))
        return MPI.Wtime()

    algorithms = {"allreduce": "rabenseifner"}
    run = fakempi.run(main, 8, paper="always", algorithms=algorithms)
    assert run.returns == fakempi.run(main, 8, paper="never", algorithms=algorithms).returns


def test_who_goes_on_before_all_messages_have_started_may_send_itself() -> None:
    """So the paper does not say what becomes of those."""
    sheet = sheet_of(collectives.find("allreduce", "recursive_doubling").run, Size(12, 8, 8))
    assert sheet is not None
    with pytest.raises(Unclear, match="a rank goes on before all messages have started"):
        played_out(sheet.rounds(), np.zeros(12), np.arange(12), np.zeros(12), Costs(1.0, 0.0, 0, 100), set())


def test_who_comes_at_the_very_moment_of_an_event_may_be_before_it() -> None:
    """That hangs on what was booked first, which is known only of ranks that have not booked themselves meanwhile."""
    sheet = sheet_of(collectives.find("barrier", "dissemination").run, Size(4, 0))
    assert sheet is not None
    starts = np.array([0.0, 0.0, 0.0, 1.0])
    with pytest.raises(Unclear, match="a rank comes at the very moment of an event"):
        played_out(sheet.rounds(), starts, np.arange(4), np.zeros(4), Costs(1.0, 0.0, 0, 0), {1.0})
    assert len(played_out(sheet.rounds(), starts, np.arange(4), np.zeros(4), Costs(1.0, 0.0, 0, 0), set()).ends) == 4
