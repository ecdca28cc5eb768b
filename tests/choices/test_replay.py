"""`run(decisions=...)`: a schedule is followed, and said to be none where it does not fit."""

from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney

CARRIERS = ["greenlets", "threads"]


def two_of_three(comm: Any) -> Any:
    """Rank 0 receives from anybody, twice."""
    if comm.rank == 0:
        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(2)]
    return comm.send(comm.rank, 0)


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("buffering", ["z", "i"])
@pytest.mark.parametrize(("decision", "order"), [(0, [1, 2]), (1, [2, 1])])
def test_a_wildcard_takes_what_the_token_says(carrier: str, buffering: str, decision: int, order: list[int]) -> None:
    """With either buffering, on both carriers."""
    assert fakempi.run(two_of_three, 3, decisions=f"{buffering}:{decision}", carrier=carrier).returns[0] == order


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_same_token_gives_the_same_trace(carrier: str) -> None:
    """To the byte, also with a cost model, and on both carriers."""

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank * 1e-6)
        two_of_three(comm)
        return comm.allreduce(comm.rank)

    runs = [fakempi.run(main, 3, decisions="z:1", trace=True, cost=Hockney(), carrier=one) for one in ("greenlets", carrier)]
    first, second = (run.trace for run in runs)
    assert first is not None
    assert second is not None
    assert first.transfer_rows.tobytes() == second.transfer_rows.tobytes()
    assert len(first.transfer_rows) == runs[0].messages
    assert {"recv", "send", "allreduce"} <= {call.name for call in first.calls}


def test_a_number_that_is_too_large_is_named_with_what_was_there() -> None:
    """At which decision, and all that was open."""
    with pytest.raises(
        fakempi.ScheduleError,
        match=r"^decisions 'z:7' do not fit the program: decision 1 is 7, and there are only 2 options "
        r"\(0: rank 0's recv at test_replay.py:\d+ took rank 1's message; 1: rank 0's recv at .* took rank 2's message\)\.$",
    ):
        fakempi.run(two_of_three, 3, decisions="z:7")


def test_a_token_that_is_too_long_is_refused() -> None:
    """It is another program's."""
    with pytest.raises(
        fakempi.ScheduleError,
        match=r"^decisions 'z:0.1' do not fit the program: decision 2 is 1, but the program came to its end after 1\.$",
    ):
        fakempi.run(two_of_three, 3, decisions="z:0.1")


@pytest.mark.parametrize(("name", "given"), [("seed", {"seed": 3}), ("computing", {"computing": 1.0})])
def test_decisions_leave_no_place_for_chance(name: str, given: dict[str, Any]) -> None:
    """Refused, and not ignored."""
    with pytest.raises(MPI.Exception, match=rf"^run: decisions fix the schedule, so there is no place for {name}\.$"):
        fakempi.run(two_of_three, 3, decisions="z:0", **given)


def test_messages_of_one_sender_keep_their_order() -> None:
    """Whatever the token says."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(4)]
        comm.send((comm.rank, "first"), 0)
        return comm.send((comm.rank, "second"), 0)

    for token in ("i:0", "i:1", "i:1.1", "i:0.1", "z:1.0.1", "z:0.1"):
        got = fakempi.run(main, 3, decisions=token).returns[0]
        assert all(got.index((rank, "first")) < got.index((rank, "second")) for rank in (1, 2))


def test_an_exact_receive_behind_a_wildcard_waits_for_what_that_takes() -> None:
    """The wildcard was posted first, so it may have the message that the other one names."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            wild = comm.irecv(source=MPI.ANY_SOURCE)
            exact = comm.irecv(source=1)
            return MPI.Request.waitall([wild, exact])
        return [comm.send((comm.rank, i), 0) for i in range(3 - comm.rank)]

    assert fakempi.run(main, 3, decisions="i:0").returns[0] == [(1, 0), (1, 1)]
    assert fakempi.run(main, 3, decisions="i:1").returns[0] == [(2, 0), (1, 0)]
