"""`run(schedule=...)`: a schedule is followed, or rejected if it does not fit."""

from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney

BACKENDS = ["greenlets", "threads"]


def two_of_three(comm: Any) -> Any:
    """Rank 0 receives from any source, twice."""
    if comm.rank == 0:
        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(2)]
    return comm.send(comm.rank, 0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("buffering", ["z", "i"])
@pytest.mark.parametrize(("decision", "order"), [(0, [1, 2]), (1, [2, 1])])
def test_a_wildcard_receive_follows_the_token(backend: Any, buffering: str, decision: int, order: list[int]) -> None:
    """With either buffering, on both backends."""
    assert fakempi.run(two_of_three, 3, schedule=f"{buffering}:{decision}", backend=backend).returns[0] == order


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_token_gives_the_same_trace(backend: Any) -> None:
    """To the byte, also with a cost model, and on both backends."""

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank * 1e-6)
        two_of_three(comm)
        return comm.allreduce(comm.rank)

    runs = [fakempi.run(main, 3, schedule="z:1", trace=True, cost=Hockney(), backend=one) for one in ("greenlets", backend)]
    first, second = (run.trace for run in runs)
    assert first is not None
    assert second is not None
    assert first.transfer_rows.tobytes() == second.transfer_rows.tobytes()
    assert len(first.transfer_rows) == runs[0].messages
    assert {"recv", "send", "allreduce"} <= {call.name for call in first.calls}


def test_an_index_out_of_range_is_reported_with_the_options() -> None:
    """With the decision, and all open options."""
    with pytest.raises(
        fakempi.ScheduleError,
        match=r"^schedule 'z:7' does not fit the program: decision 1 is 7, but there are only 2 options "
        r"\(0: rank 0's recv at test_replay.py:\d+ took rank 1's message; 1: rank 0's recv at .* took rank 2's message\)\.$",
    ):
        fakempi.run(two_of_three, 3, schedule="z:7")


def test_a_token_that_is_too_long_is_rejected() -> None:
    """It belongs to another program."""
    with pytest.raises(
        fakempi.ScheduleError,
        match=r"^schedule 'z:0.1' does not fit the program: decision 2 is 1, but the program ended after 1 decision\.$",
    ):
        fakempi.run(two_of_three, 3, schedule="z:0.1")


@pytest.mark.parametrize(("name", "given"), [("seed", {"seed": 3}), ("cpu_scale", {"cpu_scale": 1.0})])
def test_a_schedule_excludes_random_options(name: str, given: dict[str, Any]) -> None:
    """They are rejected, not ignored."""
    words = rf"^run: schedule= fixes the order of events, so {name} cannot be given as well\.$"
    with pytest.raises(MPI.Exception, match=words):
        fakempi.run(two_of_three, 3, schedule="z:0", **given)


def test_messages_of_one_sender_keep_their_order() -> None:
    """For any token."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(4)]
        comm.send((comm.rank, "first"), 0)
        return comm.send((comm.rank, "second"), 0)

    for token in ("i:0", "i:1", "i:1.1", "i:0.1", "z:1.0.1", "z:0.1"):
        got = fakempi.run(main, 3, schedule=token).returns[0]
        assert all(got.index((rank, "first")) < got.index((rank, "second")) for rank in (1, 2))


def test_a_named_receive_behind_a_wildcard_waits_for_the_wildcards_match() -> None:
    """The wildcard was posted first, so it may take the message that the other one names."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            wild = comm.irecv(source=MPI.ANY_SOURCE)
            exact = comm.irecv(source=1)
            return MPI.Request.waitall([wild, exact])
        return [comm.send((comm.rank, i), 0) for i in range(3 - comm.rank)]

    assert fakempi.run(main, 3, schedule="i:0").returns[0] == [(1, 0), (1, 1)]
    assert fakempi.run(main, 3, schedule="i:1").returns[0] == [(2, 0), (1, 0)]
