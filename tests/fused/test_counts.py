"""`run.fused_calls` counts fused and emulated calls, with reasons; `fused="always"` raises the reason."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import find
from fakempi import MPI, Hockney, TwoLevel
from fakempi.errors import MPIError, MPIValueError, RankError
from fakempi.extensions.fused import programs
from fakempi.extensions.fused.rendezvous import OBJECTS_APART, TOO_LONG
from fakempi.extensions.fused.results import Results


def _barrier(comm: Any, *, tag: int = 0) -> None:
    """A user-defined algorithm that has the name and the schedule of another one."""
    find("barrier", "linear").run(comm, tag=tag)


EMULATED: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "no schedule": (
        lambda comm: comm.Alltoall(np.zeros(4), np.zeros(4)), {"algorithms": {"alltoall": "linear"}},
        "alltoall", "<intra alltoall linear> has no schedule",
    ),
    "objects": (lambda comm: comm.reduce(1), {}, "reduce", "it combines objects"),
    "objects that are not numbers": (
        lambda comm: comm.allreduce("a"), {}, "allreduce", "it combines objects that are not numbers"
    ),
    "function of objects": (lambda comm: comm.allreduce(1, max), {}, "allreduce", "its operation is user-defined"),
    "numbers that cannot be combined": (
        lambda comm: comm.allreduce(1.5 if comm.rank else 1, MPI.PROD), {}, "allreduce", "PROD of its objects may fail"
    ),
    "objects, and few messages in a round": (lambda comm: comm.scan(1), {}, "scan", OBJECTS_APART),
    "user-defined function": (
        lambda comm: comm.Allreduce(np.zeros(1), np.zeros(1), MPI.Op.Create(lambda one, two, datatype: None)), {},
        "allreduce", "its operation or datatype is user-defined",
    ),
    "sizes of two groups": (
        lambda comm: _other_half(comm).Allgatherv(np.zeros(1), [np.zeros(2), [1, 1]]),
        {"algorithms": {"inter:allgatherv": "wmpi"}}, "allgatherv", "ranks send blocks before they know all block sizes",
    ),
    "datatypes": (
        lambda comm: comm.Alltoallw(*([np.zeros(4), ([1] * 4, [0, 8, 16, 24]), [MPI.DOUBLE] * 4] for _ in range(2))), {},
        "alltoallw", "each of its blocks has a datatype",
    ),
    "neighbors": (
        lambda comm: comm.Create_cart([4]).neighbor_allgather(1), {}, "neighbor_allgather",
        "neighborhood collectives have no schedule",
    ),
    "user-defined algorithm": (
        lambda comm: comm.Barrier(), {"algorithms": {"barrier": replace(find("barrier", "linear"), run=_barrier)}},
        "barrier", "<intra barrier linear>, or a part of it, may be user-defined",
    ),
    "checked buffers": (lambda comm: comm.Barrier(), {"check_buffers": True}, "barrier", "buffers in use are checked"),
    "CPU time": (lambda comm: comm.Barrier(), {"cpu_scale": 1.0}, "barrier", "CPU time is measured"),
}  # fmt: skip


def _other_half(comm: Any) -> Any:
    """Ranks 0 and 1 on one side, 2 and 3 on the other."""
    return comm.Split(comm.rank // 2).Create_intercomm(0, comm, 2 - 2 * (comm.rank // 2))


@pytest.mark.parametrize("case", EMULATED)
def test_emulated_calls_are_counted_with_their_reason(case: str) -> None:
    """Once for all ranks; `fused="always"` raises an error with the same reason."""
    program, options, operation, why = EMULATED[case]
    counts = fakempi.run(program, 4, **options).fused_calls[operation]
    assert (counts.fused, list(counts.emulated)) == (0, [why])
    with pytest.raises((RankError, MPIError)) as caught:
        fakempi.run(program, 4, fused="always", **options)
    assert f"all collective calls must be fused (fused='always'), but {why}." in str(caught.value)


def test_a_call_whose_steps_would_take_all_memory_is_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless its outcome is computed in arrays, which store nothing."""

    def main(comm: Any) -> Any:
        comm.Allgather(np.full(1, comm.rank), found := np.zeros(8))
        comm.Allreduce(np.ones(8), summed := np.zeros(8))
        return *found, *summed

    options: dict[str, Any] = {"algorithms": {"allgather": "ring", "allreduce": "ring"}}
    costs = Hockney(eager_limit=0), TwoLevel(3), Hockney(t_s=0, eager_limit=0)
    before = [fakempi.run(main, 8, cost=cost, **options) for cost in costs]
    monkeypatch.setattr(programs, "MOST_STORED", 20)
    monkeypatch.setattr(programs, "MOST_STEPS", 50)
    after = [fakempi.run(main, 8, cost=cost, **options) for cost in costs]
    assert [(run.returns, run.clocks, run.messages) for run in after] == [
        (run.returns, run.clocks, run.messages) for run in before
    ]
    assert all(counts == (1, {}) for run in before for counts in run.fused_calls.values())
    assert [run.fused_calls["allgather"] for run in after] == [(1, {}), *[(0, {TOO_LONG: 1})] * 2]
    assert [run.fused_calls["allreduce"] for run in after] == [(0, {TOO_LONG: 1})] * 3
    with pytest.raises(RankError, match=f"must be fused .*, but {TOO_LONG}"):
        fakempi.run(main, 8, cost=TwoLevel(3), fused="always", **options)


def test_fused_calls_are_counted_once_for_all_ranks() -> None:
    """Also on sub-communicators, of few ranks only if all calls have to be fused, and never with `fused="never"`."""

    def main(comm: Any) -> None:
        for _ in range(3):
            comm.Allreduce(np.ones(1), np.zeros(1))
        comm.bcast("word")
        comm.Split(comm.rank % 2).Barrier()

    assert {name: counts.fused for name, counts in fakempi.run(main, 8).fused_calls.items()} == {
        "allreduce": 3, "barrier": 2, "bcast": 2,
    }  # fmt: skip
    assert fakempi.run(main, 6).fused_calls["barrier"] == (0, {"it has fewer than 4 ranks": 2})
    assert fakempi.run(main, 6, fused="always").fused_calls["barrier"] == (2, {})
    assert fakempi.run(main, 6, fused="never").fused_calls == {}


def test_each_start_of_a_persistent_call_is_a_call() -> None:
    """Fused or emulated; the n-th starts of all ranks are one call, also if some ranks are ahead."""

    def main(comm: Any, starts: int) -> Any:
        request = comm.Bcast_init(data := np.full(3, float(comm.rank)), 1)
        found = []
        for i in range(starts):
            if comm.rank == 1:
                data[:] = i
            request.Start()
            request.Wait()
            found.append(data.tolist())
        request.Free()
        return found

    for starts, size in ((0, 4), (1, 4), (5, 6)):
        run = fakempi.run(main, size, starts, fused="always")
        assert run.fused_calls == ({"bcast": (starts, {})} if starts else {})
        assert run.returns == [[[i] * 3 for i in range(starts)]] * size
    assert fakempi.run(main, 3, 5).fused_calls == {"bcast": (0, {"it has fewer than 4 ranks": 5})}


def test_data_of_earlier_starts_are_freed() -> None:
    """A persistent call holds the arrays of its last start only, however often it is started."""

    def results() -> int:
        gc.collect()
        return sum(type(each) is Results for each in gc.get_objects())

    def main(comm: Any) -> None:
        request = comm.Allreduce_init(np.ones(1), np.zeros(1))
        for _ in range(50):
            request.Start()
            request.Wait()
        comm.Barrier()
        if comm.rank == 0:
            counts.append(results())
        comm.Barrier()
        request.Free()

    counts = [results()]  # of other tests' runs
    fakempi.run(main, 4, fused="always")
    assert counts[1] - counts[0] <= 3  # of this call and of a barrier


def test_counts_in_words() -> None:
    """The summary of a run prints them."""

    def main(comm: Any) -> None:
        comm.Barrier()
        comm.reduce(1)

    calls = fakempi.run(main, 4).fused_calls
    assert {name: str(counts) for name, counts in calls.items()} == {
        "barrier": "1 fused", "reduce": "0 fused, 1 emulated (it combines objects)",
    }  # fmt: skip


def test_a_rank_alone_makes_no_call() -> None:
    """It sends nothing, and creating communicators is free."""

    def main(comm: Any) -> None:
        comm.Dup().Barrier()
        comm.Split(comm.rank).Allreduce(np.zeros(1), np.zeros(1))
        MPI.COMM_SELF.Barrier()

    run = fakempi.run(main, 2, fused="always")
    assert run.messages == 2
    assert {name: counts.fused for name, counts in run.fused_calls.items()} == {"barrier": 1}


def test_values_of_the_option() -> None:
    """Another value is rejected."""
    with pytest.raises(MPIValueError, match="run: fused must be 'auto', 'never' or 'always', not 'maybe'"):
        fakempi.run(lambda comm: None, 2, fused="maybe")  # type: ignore[arg-type]  # a wrong value


def test_ranks_that_disagree_are_reported_though_others_wait() -> None:
    """Arguments are compared before a rank waits."""

    def main(comm: Any) -> None:
        size = 1 + comm.rank // 3
        comm.Allreduce(np.zeros(size), np.zeros(size))

    with pytest.raises(RankError, match="the size in bytes is 16 here"):
        fakempi.run(main, 4, fused="auto")
