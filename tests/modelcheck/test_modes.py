"""Modes of a run (buffering by size, collective calls that are barriers) are explored if they can give different results."""

import shlex
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import fakempi
from fakempi import MPI, strategies
from fakempi.apps.cli import main
from tests.helpers.breadth import examples

ANY = MPI.ANY_SOURCE


def verdicts(main: Any, p: int, **options: Any) -> tuple[str, list[str]]:
    """The verdict, and the tokens of all failures; each token is replayed, and so is the successful schedule."""
    found = fakempi.explore(main, p, **options)
    for failure in found.failures:
        with pytest.raises(type(failure.error)):
            fakempi.run(main, p, schedule=failure.schedule, strict=True)
        if failure.passes is not None:
            fakempi.run(main, p, schedule=failure.passes, strict=True)
    return found.verdict, [failure.schedule for failure in found.failures]


# -- buffering by size ----------------------------------------------------------------------------------------------------


def fails_by_size(comm: Any) -> None:
    """Rank 2 receives rank 0's message first only if 80 bytes are buffered; then two ranks exchange 8000 bytes."""
    large, small, flag = np.zeros(1000), np.zeros(10), np.zeros(1)
    if comm.rank == 0:
        comm.Send(large, 1)
        comm.Send(flag, 2)
    elif comm.rank == 1:
        comm.Send(small, 2)
        comm.Recv(large, source=0)
        comm.Recv(flag, source=2)
        if flag[0]:
            comm.Send(large, 2)
            comm.Recv(large, source=2)
    else:
        status = MPI.Status()
        comm.Recv(small, source=ANY, status=status)
        comm.Recv(small, source=1 - status.source)
        flag[0] = status.source == 0
        comm.Send(flag, 1)
        if flag[0]:
            comm.Send(large, 1)
            comm.Recv(large, source=1)


def test_a_program_that_fails_only_if_small_messages_are_buffered_and_large_ones_are_not() -> None:
    """With either extreme it is clean, and the verdict names the buffering."""
    assert verdicts(fails_by_size, 3) == ("1 of 6 schedules fails", ["s80:1"])
    (failure,) = fakempi.explore(fails_by_size, 3).failures
    assert failure.why.endswith("(sends of at most 80 bytes are buffered and larger ones wait for their receive)")
    assert verdicts(fails_by_size, 3, buffering="zero") == ("clean: the only schedule with no buffering", [])
    assert verdicts(fails_by_size, 3, buffering="infinite") == ("clean: all 2 schedules with unlimited buffering", [])
    both = "clean: all 3 schedules with no and unlimited buffering"
    assert verdicts(fails_by_size, 3, buffering=("zero", "infinite"))[0] == both
    assert verdicts(fails_by_size, 3, buffering="size")[1] == ["s80:1"]


def exchange(comm: Any, sizes: list[int]) -> None:
    """Messages of these sizes, received in their order."""
    for tag, size in enumerate(sizes):
        if comm.rank == 0:
            comm.Send(np.zeros(size, "b"), 1, tag)
        else:
            comm.Recv(np.zeros(size, "b"), 0, tag)


def test_each_size_but_the_largest_is_a_limit() -> None:
    """With one size there is no limit between the extremes."""
    for sizes, runs in (([8], 2), ([8, 8], 2), ([8, 9], 3), ([0, 8], 3), ([1, 2, 3, 4], 5)):
        found = fakempi.explore(exchange, 2, sizes)
        assert (found.runs, found.exhausted) == (runs, True), sizes


def test_without_infinite_buffering_the_largest_size_is_a_limit_too() -> None:
    """Larger messages may be sent only behind one that was buffered."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(np.zeros(1, "b"), 1, tag=1)
            comm.Send(np.zeros(64, "b"), 1, tag=2)
        else:
            comm.Recv(np.zeros(64, "b"), 0, tag=2)
            comm.Recv(np.zeros(1, "b"), 0, tag=1)

    found = fakempi.explore(main, 2, buffering="size")
    assert (found.runs, found.exhausted, [one.schedule for one in found.failures]) == (3, True, ["s0:0"])
    found = fakempi.explore(main, 2, buffering=("zero", "size"))
    assert (found.runs, [one.passes for one in found.failures]) == (3, ["s1:0"])
    assert fakempi.explore(main, 2).runs == 3


def test_more_sizes_than_runs_are_not_called_exhausted() -> None:
    """The budget ends first."""
    found = fakempi.explore(exchange, 2, list(range(30)), runs=10)
    assert (found.exhausted, found.runs) == (False, 10)
    assert found.verdict.startswith("clean so far: 10 schedules, about ")


def test_only_standard_sends_of_the_program_define_sizes() -> None:
    """Ssend always waits, and messages of collective calls belong to the library."""

    def main(comm: Any) -> Any:
        exchange(comm, [5])
        if comm.rank == 0:
            comm.Ssend(np.zeros(7), 1)
        else:
            comm.Recv(np.zeros(7), 0)
        comm.Allreduce(np.zeros(3), np.zeros(3))
        return comm.allgather("text" * comm.rank)

    found = fakempi.explore(main, 2)
    assert (found.runs, found.exhausted) == (2, True)


def test_a_limit_of_zero_bytes_buffers_empty_messages_only() -> None:
    """In zero buffering not even these are buffered."""

    def main(comm: Any) -> None:
        for size in (0, 4):
            if comm.rank == 0:
                comm.Send(np.zeros(size, "b"), 1, tag=size)
        if comm.rank == 1:
            comm.Recv(np.zeros(4, "b"), 0, tag=4)
            comm.Recv(np.zeros(0, "b"), 0, tag=0)

    for token, deadlocks in (("z:0", True), ("s0:0", False), ("s4:0", False), ("i:0", False)):
        if deadlocks:
            with pytest.raises(fakempi.DeadlockError):
                fakempi.run(main, 2, schedule=token)
        else:
            fakempi.run(main, 2, schedule=token)


# -- collective calls that are barriers ---------------------------------------------------------------------------------


def _empty_alltoallv(comm: Any) -> None:
    nothing = [np.zeros(0), [0] * comm.size]
    comm.Alltoallv(nothing, nothing)


def _on_neighbors(comm: Any) -> None:
    line = comm.Create_cart([comm.size])
    line.Neighbor_allgather(np.zeros(1), np.zeros(2))
    line.Free()


EARLY = {
    "bcast": lambda comm: comm.bcast(comm.rank, root=0),
    "Bcast": lambda comm: comm.Bcast(np.zeros(2), root=0),
    "scatter": lambda comm: comm.scatter([1] * comm.size, root=0),
    "Reduce": lambda comm: comm.Reduce(np.zeros(2), np.zeros(2), root=comm.size - 1),
    "reduce": lambda comm: comm.reduce(1, root=comm.size - 1),
    "gather": lambda comm: comm.gather(1, root=comm.size - 1),
    "Gatherv": lambda comm: comm.Gatherv(np.zeros(1), [np.zeros(comm.size), [1] * comm.size], root=comm.size - 1),
    "scan": lambda comm: comm.scan(1),
    "Exscan": lambda comm: comm.Exscan(np.zeros(1), np.zeros(1)),
    "Alltoallv": _empty_alltoallv,
    "Ibcast": lambda comm: comm.Ibcast(np.zeros(2), root=0).Wait(),
    "Ireduce": lambda comm: comm.Ireduce(np.zeros(2), np.zeros(2), root=comm.size - 1).Wait(),
    "Neighbor_allgather": _on_neighbors,
}
"""Calls from which rank 0 may return before rank 2 of 3 has called."""


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", EARLY)
def test_a_program_that_relies_on_an_early_return_deadlocks_if_collective_calls_synchronize(name: str) -> None:
    """Without barriers it is clean; the report names the call and its line."""

    def main(comm: Any) -> None:
        if name.startswith("Neighbor") or comm.rank != 2:
            pass
        else:
            comm.recv(source=0)
        if name.startswith("Neighbor") and comm.rank == 2:  # creating the topology synchronizes
            line = comm.Create_cart([comm.size])
            comm.recv(source=0)
            line.Neighbor_allgather(np.zeros(1), np.zeros(2))
            line.Free()
        else:
            EARLY[name](comm)
        if comm.rank == 0:
            comm.send(None, 2)

    found = fakempi.explore(main, 3)
    assert [type(one.error) for one in found.failures] == [fakempi.DeadlockError], found
    (failure,) = found.failures
    times = ", and early and late data" if name.startswith("I") else ""  # twice as many schedules
    assert (failure.schedule, failure.passes, found.runs) == ("zb:0", "z:0", 8 if times else 4)
    assert failure.why.startswith(f"the program relies on {name} at test_modes.py:"), failure.why
    assert "MPI allows every collective call to synchronize" in failure.why
    scope = f"no, unlimited and size-limited buffering, and minimal collectives{times}"
    assert verdicts(main, 3, collectives="minimal") == (f"clean: all {4 if times else 2} schedules with {scope}", [])
    assert verdicts(main, 3, collectives="synchronizing")[1] == ["zb:0"]


def test_calls_that_need_data_of_all_ranks_are_not_tried_as_barriers() -> None:
    """They synchronize anyway, so runs would show nothing new."""

    def main(comm: Any) -> None:
        p = comm.size
        comm.Barrier()
        comm.allreduce(1)
        comm.allgather("x")
        comm.alltoall([None] * p)
        comm.Allgather(np.zeros(1), np.zeros(p))
        comm.Alltoall(np.zeros(p), np.zeros(p))
        comm.Alltoallv([np.zeros(p), [1] * p], [np.zeros(p), [1] * p])
        comm.Reduce_scatter_block(np.zeros(p), np.zeros(1))
        comm.Iallreduce(np.zeros(1), np.zeros(1)).Wait()
        comm.Dup().Free()

    found = fakempi.explore(main, 3)
    assert (found.runs, found.exhausted, found.verdict) == (4, True, "clean: all 4 schedules with early and late data")


def test_the_start_of_a_nonblocking_call_never_waits() -> None:
    """Its completion may: what a rank sends in between arrives."""

    def main(comm: Any) -> None:
        request = comm.Ibcast(np.zeros(1), root=0)
        if comm.rank == 0:
            comm.send(None, 2)
        elif comm.rank == 2:
            comm.recv(source=0)
        request.Wait()

    scope = "no, unlimited and size-limited buffering, and minimal and synchronizing collectives, and early and late data"
    assert verdicts(main, 3) == (f"clean: all 8 schedules with {scope}", [])


def test_correct_programs_stay_clean_if_collective_calls_are_barriers() -> None:
    """Repeated calls, persistent ones, on one rank, and with the same results."""

    def main(comm: Any) -> Any:
        got = [comm.bcast(i if comm.rank == 0 else None) for i in range(3)]
        alone = comm.Split(comm.rank)
        got.append(alone.bcast("alone"))
        alone.Free()
        buffer = np.full(2, comm.rank)
        prepared = comm.Bcast_init(buffer, root=1)
        for _ in range(2):
            prepared.Start()
            prepared.Wait()
        prepared.Free()
        return got, buffer.tolist(), comm.scan(comm.rank), comm.gather(comm.rank, root=2)

    found = fakempi.explore(main, 3, compare="returns")
    assert (found.verdict, found.failures) == (
        "clean: all 8 schedules with minimal and synchronizing collectives, and early and late data", [],
    )  # fmt: skip


def _all_collectives(comm: Any) -> Any:
    """Return the results of each collective call on this rank."""
    p, rank = comm.size, comm.rank
    mine, each = np.arange(p, dtype=float) + rank, np.zeros(p)
    one, into, whole = np.array([rank + 1.0]), np.zeros(p), np.zeros(p)
    got = [
        comm.bcast(rank, root=p - 1), comm.gather(rank), comm.scatter(list(range(p)) if rank == 0 else None),
        comm.allgather(rank), comm.alltoall([rank] * p), comm.reduce(rank, root=p - 1), comm.allreduce(rank),
        comm.scan(rank), comm.exscan(rank), comm.barrier(),
    ]  # fmt: skip
    requests = [comm.Ibcast(mine if rank == 0 else into), comm.Iallreduce(one, each[:1]), comm.Ibarrier()]
    requests += [comm.Igather(one, whole, root=0), comm.Iscan(one, each[-1:] if p > 1 else np.zeros(1))]
    MPI.Request.Waitall(requests)
    counts = [rank % 2] * p
    scattered = np.zeros(p)
    comm.Alltoallv([mine, counts], [scattered, [i % 2 for i in range(p)]])
    ring = comm.Create_cart([p], periods=[True])
    got.append(ring.neighbor_allgather(rank))
    neighbors = np.zeros(2)
    ring.Ineighbor_alltoall(np.full(2, rank + 0.5), neighbors).Wait()
    ring.Free()
    if p > 1:
        half = comm.Split(rank % 2)
        between = half.Create_intercomm(0, comm, 1 - rank % 2)
        got += [between.allgather(rank), between.allreduce(rank)]
        root = 0 if rank % 2 else MPI.ROOT if rank == 0 else MPI.PROC_NULL
        got += [between.bcast("x" if rank == 0 else None, root=root), between.reduce(rank, root=root), between.barrier()]
        between.Free()
        half.Free()
    return repr((got, into.tolist(), each.tolist(), whole.tolist(), scattered.tolist(), neighbors.tolist()))


@pytest.mark.sample
@pytest.mark.slow
def test_collective_calls_return_the_same_in_every_mode() -> None:
    """All calls, twice in a row (a repeated call has another path), on 1, 3 and 4 ranks, within a group and between two.
    """
    for p in (1, 3, 4):

        def main(comm: Any) -> Any:
            return [_all_collectives(comm) for _ in range(2)]

        expected = fakempi.run(main, p).returns
        for token in ("z:0", "s8:0", "zb:0", "ib:0"):
            assert fakempi.run(main, p, schedule=token).returns == expected, (p, token)


def test_in_an_intercommunicator_ranks_of_the_roots_group_wait_too() -> None:
    """A rank that passes PROC_NULL exchanges nothing, and MPI allows it to wait for all nevertheless."""

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank // 2)
        peer = 0 if comm.rank >= 2 else 2
        between = half.Create_intercomm(0, comm, peer)
        root = 0 if comm.rank >= 2 else MPI.ROOT if comm.rank == 0 else MPI.PROC_NULL
        if comm.rank == 3:
            comm.recv(source=1)
        between.bcast("x" if comm.rank == 0 else None, root=root)
        if comm.rank == 1:
            comm.send(None, 3)
        between.Free()
        half.Free()

    assert verdicts(main, 4)[1] == ["zb:0"]

    def within(comm: Any) -> None:
        half = comm.Split(comm.rank // 2)
        between = half.Create_intercomm(0, comm, 0 if comm.rank >= 2 else 2)
        if comm.rank == 1:
            comm.recv(source=0)
        between.barrier()
        if comm.rank == 0:
            comm.send(None, 1)
        between.Free()
        half.Free()

    assert "zb:0" in [failure.schedule for failure in fakempi.explore(within, 4, collectives="synchronizing").failures]


def test_unknown_modes_are_rejected() -> None:
    """With the valid names."""
    words = r"explore: collectives some is unknown; choose from minimal and synchronizing\.$"
    with pytest.raises(MPI.Exception, match=words):
        fakempi.explore(lambda comm: None, 2, collectives="some")  # type: ignore[arg-type]  # the wrong value is the test


# -- tokens on the command line and in tests ------------------------------------------------------------------------------


SCRIPT = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 2:
    comm.recv(source=0)
comm.bcast(None)
if comm.rank == 0:
    comm.send(None, 2)
"""


def test_check_names_the_collective_call_and_the_command_that_shows_it(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The token works on the command line, and an option omits the mode."""
    script = tmp_path / "early.py"
    script.write_text(SCRIPT, encoding="utf-8")
    assert main(["check", "-n", "3", "--quiet", str(script)]) == 1
    out = capsys.readouterr().out
    assert "why: the program relies on bcast at early.py:6 completing before all ranks have called it; MPI allows" in out
    again = next(line for line in out.splitlines() if line.startswith("replay: fakempi "))
    assert "--schedule zb:0" in again
    assert main(shlex.split(again)[2:]) == 1
    capsys.readouterr()
    assert main(["check", "-n", "3", "--quiet", "--collectives", "minimal", "--buffering", "zero", str(script)]) == 0
    assert capsys.readouterr().out == "clean: the only schedule with no buffering, and minimal collectives\n"


@settings(max_examples=examples(20), deadline=None)
@given(strategies.schedules())
def test_drawn_schedules_have_all_modes_and_fit_every_program(token: str) -> None:
    """They end in a question mark, and correct programs pass in each."""

    def program(comm: Any) -> Any:
        if comm.rank == 0:
            return sum(comm.recv(source=ANY) for _ in range(2)), comm.bcast(1)
        comm.send(comm.rank, 0)
        return comm.bcast(None)

    assert token.endswith("?")
    assert fakempi.run(program, 3, schedule=token).returns == [(3, 1), 1, 1]


def test_a_communicator_may_be_freed_while_a_collective_call_is_in_progress() -> None:
    """Its barrier, in the mode with barriers, failed with an AttributeError, and the program was blamed."""

    def main(comm: Any) -> None:
        own = comm.Dup()
        prepared = own.Bcast_init(np.zeros(1))
        requests = [own.Ibcast(np.zeros(1)), own.Iallreduce(np.ones(1), np.zeros(1)), own.Ibarrier()]
        own.Free()
        prepared.Start()
        MPI.Request.Waitall([*requests, prepared])
        prepared.Free()

    for p in (1, 2, 3):
        found = fakempi.explore(main, p)
        assert found.exhausted
        assert not found.failures, found
