"""Ranks wait in the hall until all have come; if that cannot be, nothing of it shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney
from fakempi.errors import DeadlockError, MPIError, MPIValueError, RankError
from fakempi.paper import hall


@pytest.fixture
def on_paper(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What became of each call that ranks waited for: why it was given up, or nothing if it was carried out."""
    monkeypatch.setattr(hall, "FEWEST", 2)
    monkeypatch.setattr(hall, "BACK_OFF", 0)
    pages: list[str] = []
    close = hall.Hall._close

    def noted(self: Any) -> None:
        page = self.page
        close(self)
        pages.append(page)

    monkeypatch.setattr(hall.Hall, "_close", noted)
    return pages


def whys(pages: list[Any]) -> list[str]:
    """Why each was given up."""
    return [page.why_not for page in pages]


def test_who_is_in_step_needs_no_messages(on_paper: list[Any], carrier: str) -> None:
    """One page a call, and all counters are as ever."""

    def main(comm: Any) -> float:
        total = np.zeros(1)
        for _ in range(3):
            comm.Allreduce(np.ones(1), total)
        return float(total[0])

    run = fakempi.run(main, 8, carrier=carrier, paper="auto")
    assert run.returns == [8.0] * 8
    assert run.messages == 3 * 8 * 3
    assert whys(on_paper) == ["", "", ""]


def test_ranks_that_compute_come_at_their_own_times(on_paper: list[Any]) -> None:
    """They wait for the last one, and their messages would not have met."""

    def main(comm: Any) -> float:
        fakempi.compute(1e-3 * (comm.rank == 3))
        comm.Barrier()
        return MPI.Wtime()

    cost = Hockney(t_s=1e-6, t_w=1e-9, eager_limit=0)
    run = fakempi.run(main, 4, cost=cost, paper="auto")
    assert whys(on_paper) == [""]
    assert run.clocks == fakempi.run(main, 4, cost=cost, paper="never").clocks


def test_a_message_meanwhile_takes_all_back(on_paper: list[Any]) -> None:
    """To when the first one came: each goes on from its own time."""

    def main(comm: Any) -> float:
        fakempi.compute(1e-6 * comm.rank)
        if comm.rank == 2:
            comm.Send(np.zeros(1), 0)
        comm.Barrier()
        if comm.rank == 0:
            comm.Recv(np.zeros(1), 2)
        return MPI.Wtime()

    run = fakempi.run(main, 3, paper="auto")
    assert whys(on_paper) == ["a rank does something else meanwhile"]
    assert run.returns == fakempi.run(main, 3, paper="never").returns


def test_who_never_comes_is_in_the_report(on_paper: list[Any], carrier: str) -> None:
    """As without a hall, word for word."""

    def main(comm: Any) -> None:
        fakempi.compute(1e-6 * comm.rank)
        if comm.rank == 1:
            comm.Recv(np.zeros(1), 0)
        comm.Barrier()

    def ended(comm: Any) -> None:
        fakempi.compute(1e-6 * comm.rank)
        if comm.rank != 1:
            comm.Barrier()

    for program in (main, ended):
        reports = []
        for paper in ("auto", "never"):
            with pytest.raises(DeadlockError) as caught:
                fakempi.run(program, 3, paper=paper, carrier=carrier)
            reports.append(str(caught.value))
        assert reports[0] == reports[1]
    assert whys(on_paper) == ["a rank does something else meanwhile", "not all ranks come to it"]


def test_who_fails_ends_the_run_though_others_wait(on_paper: list[Any], carrier: str) -> None:
    """With its own error, and their `finally` blocks run."""
    ended: list[int] = []

    def main(comm: Any) -> None:
        fakempi.compute(1e-6 * comm.rank)
        try:
            if comm.rank == 3:
                raise KeyError("gone")
            comm.Barrier()
        finally:
            ended.append(comm.rank)

    with pytest.raises(RankError, match="rank 3 failed with KeyError: 'gone'"):
        fakempi.run(main, 4, carrier=carrier, paper="auto")
    assert sorted(ended) == [0, 1, 2, 3]


def test_ranks_that_disagree_are_told_though_others_wait(on_paper: list[Any]) -> None:
    """The roll is called before anybody waits."""

    def main(comm: Any) -> None:
        size = 1 + comm.rank // 3
        comm.Allreduce(np.zeros(size), np.zeros(size))

    with pytest.raises(RankError, match="the size in bytes is 16 here"):
        fakempi.run(main, 4, paper="auto")


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "traced": (lambda comm: comm.Barrier(), {"trace": True}, "the run is traced"),
    "another model": (
        lambda comm: comm.Barrier(), {"cost": fakempi.LogGP()},
        "messages do not all take t_s + n t_w seconds, with t_s more than 0",
    ),
    "another algorithm": (
        lambda comm: comm.Barrier(), {"algorithms": {"barrier": "linear"}},
        "nothing is known of <intra barrier linear> on 4 ranks with 0 bytes",
    ),
    "bcast": (lambda comm: comm.Bcast(np.zeros(1)), {}, "bcast is not made for it here"),
    "gather": (lambda comm: comm.gather(1), {}, "gather is not made for it here"),
    "scan": (lambda comm: comm.scan(1), {}, "scan is not made for it here"),
    "own function": (
        lambda comm: comm.Allreduce(np.zeros(1), np.zeros(1), MPI.Op.Create(lambda one, two, datatype: None)), {},
        "allreduce is not made for it here",
    ),
    "nothing to send": (
        lambda comm: comm.Allgather(np.zeros(0), np.zeros(0)), {},
        "nothing is known of <intra allgather bruck> on 4 ranks with 0 bytes",
    ),
    "background": (lambda comm: comm.Ibarrier().Wait(), {}, "it is carried out in the background"),
    "prepared": (lambda comm: _started(comm.Barrier_init()).Wait(), {}, "it is carried out in the background"),
    "parts": (
        lambda comm: comm.Split(comm.rank % 2).Barrier(), {}, "there are other tasks than the ranks of its communicator"
    ),
    "two groups": (lambda comm: _other_half(comm).Barrier(), {}, "it is between two groups"),
    "neighbours": (
        lambda comm: comm.Create_cart([4]).neighbor_allgather(1), {}, "neighbours exchange what they have at their own times"
    ),
    "neighbours in the background": (
        lambda comm: comm.Create_cart([4]).Ineighbor_allgather(np.zeros(1), np.zeros(2)).Wait(), {},
        "neighbours exchange what they have at their own times",
    ),
}  # fmt: skip


def _started(request: Any) -> Any:
    request.Start()
    return request


def _other_half(comm: Any) -> Any:
    """Ranks 0 and 1 on one side, 2 and 3 on the other."""
    return comm.Split(comm.rank // 2).Create_intercomm(0, comm, 2 - 2 * (comm.rank // 2))


@pytest.mark.parametrize("case", REFUSED)
def test_always_says_why_a_call_is_not_on_paper(case: str) -> None:
    """Whoever wants all calls on paper is told of each that is not."""
    program, options, why = REFUSED[case]
    with pytest.raises((RankError, MPIError)) as caught:
        fakempi.run(program, 4, paper="always", **options)
    assert f"all collective calls are to be on paper (paper='always'), but {why}." in str(caught.value)


def test_always_takes_few_ranks_and_what_sends_nothing_too() -> None:
    """Two are enough; a rank alone sends nothing, and making communicators is free."""

    def main(comm: Any) -> None:
        comm.Dup().Barrier()
        comm.Split(comm.rank).Allreduce(np.zeros(1), np.zeros(1))
        MPI.COMM_SELF.Barrier()

    assert fakempi.run(main, 2, paper="always").messages == 2


def test_what_paper_can_be() -> None:
    """Another word is refused."""
    with pytest.raises(MPIValueError, match="run: paper must be 'auto', 'never' or 'always', not 'maybe'"):
        fakempi.run(lambda comm: None, 2, paper="maybe")


def test_the_next_calls_are_not_tried_after_many_in_vain(on_paper: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks that are always out of step lose no time by that."""
    monkeypatch.setattr(hall, "BACK_OFF", 63)

    def main(comm: Any) -> None:
        for _ in range(32):
            if comm.rank < 2:
                comm.Sendrecv(np.zeros(1), 1 - comm.rank, 0, np.zeros(1), 1 - comm.rank, 0)
            comm.Barrier()

    run = fakempi.run(main, 5, paper="auto")
    assert len(on_paper) < 12
    assert run.clocks == fakempi.run(main, 5, paper="never").clocks


def test_a_call_that_is_in_vain_does_not_keep_others_from_paper(
    on_paper: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do others have it tried again and again: on 12 ranks some go on from an allreduce while others still send."""
    monkeypatch.setattr(hall, "BACK_OFF", 63)

    def main(comm: Any) -> float:
        for _ in range(20):
            comm.Allreduce(np.ones(1), np.zeros(1))
            fakempi.compute(1e-4 * comm.rank)
            comm.Barrier()
        return MPI.Wtime()

    cost = Hockney(eager_limit=0)
    run = fakempi.run(main, 12, paper="auto", cost=cost)
    assert run.returns == fakempi.run(main, 12, paper="never", cost=cost).returns
    why = [page.why_not for page in on_paper]
    assert why.count("") >= 20
    assert len(why) - why.count("") < 8
