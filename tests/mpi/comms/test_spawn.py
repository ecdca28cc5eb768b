"""Spawn: processes that are created while a program runs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney, TwoLevel
from tests.helpers.runs import fails, run

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


def line(function: Callable[..., Any], text: str) -> str:
    """File and line of a text in a function of this file."""
    with open(__file__, encoding="utf-8") as file:
        for number, each in enumerate(file, 1):
            if number >= function.__code__.co_firstlineno and text in each:
                return f"test_spawn.py:{number}"
    raise AssertionError(text)


def idle(comm: Any) -> None:
    """A process that does nothing."""


# -- parents and children ------------------------------------------------------------------------------------------


@given(n=st.integers(1, 5), m=st.integers(1, 6), data=st.data())
@settings(max_examples=15)
def test_parents_and_children_exchange_messages(backend: Any, n: int, m: int, data: st.DataObject) -> None:
    """Each child sends a message to each parent and gets one back, for every root."""
    root = data.draw(st.integers(0, n - 1))

    def child(comm: Any, greeting: str) -> None:
        parent = MPI.Comm.Get_parent()
        assert (comm.Get_name(), comm.rank, comm.size, parent.size) == ("MPI_COMM_WORLD", parent.rank, m, m)
        assert comm == MPI.COMM_WORLD
        for rank in range(parent.remote_size):
            parent.send((greeting, comm.rank, rank), rank)
            assert parent.recv(source=rank) == (rank, comm.rank)

    def main(comm: Any) -> Any:
        codes: list[int] = [7]
        children = comm.Spawn(child if comm.rank == root else None, ["hello"], m, root=root, errcodes=codes)
        assert (codes, children.rank, children.size) == ([MPI.SUCCESS] * m, comm.rank, comm.size)
        assert MPI.Comm.Get_parent() == MPI.COMM_NULL
        heard = []
        for rank in range(children.remote_size):
            heard.append(children.recv(source=rank))
            children.send((comm.rank, rank), rank)
        return heard

    done = fakempi.run(main, n, backend=backend)
    assert done.returns == [[("hello", child, parent) for child in range(m)] for parent in range(n)]
    assert done.messages == 2 * n * m
    assert len(done.clocks) == n + m


def test_children_start_when_the_last_parent_has_called(backend: Any) -> None:
    """Spawning takes no time."""
    began = []

    def child(comm: Any) -> None:
        began.append((comm.rank, MPI.Wtime()))
        fakempi.compute(comm.rank)

    def main(comm: Any) -> float:
        fakempi.compute(3 * comm.rank)
        comm.Spawn(child, None, 2)
        return MPI.Wtime()

    done = fakempi.run(main, 3, backend=backend)
    assert began == [(0, 6), (1, 6)]
    assert done.returns == [6, 6, 6]
    assert done.clocks == [6, 6, 6, 6, 7]
    assert (done.time, repr(done)) == (7, "<Run: 3 ranks and 2 spawned, time 7 s, 0 messages, 0 bytes>")


@given(generations=st.integers(1, 4), width=st.integers(1, 3))
@settings(max_examples=10)
def test_children_spawn_children(backend: Any, generations: int, width: int) -> None:
    """Each generation has one rank more than the previous one; the sum over all is returned."""

    def live(comm: Any, left: int) -> int:
        total: int = comm.size
        if left:
            children = comm.Spawn(live, [left - 1], comm.size + 1)
            if comm.rank == 0:
                total += children.recv(source=0)
        parent = comm.Get_parent()
        if comm.rank == 0 and parent != MPI.COMM_NULL:
            parent.send(total, 0)
        return total

    done = fakempi.run(live, width, generations, backend=backend)
    assert done.returns[0] == sum(range(width, width + generations + 1)) == len(done.clocks)


def test_both_groups_merge_split_and_work_together(backend: Any) -> None:
    """As for any intercommunicator."""

    def everyone(inter: Any, high: bool) -> Any:
        both = inter.Merge(high)
        total = both.allreduce(both.rank)
        odd = inter.Split(inter.rank % 2)
        sizes = (odd.size, odd.remote_size) if odd != MPI.COMM_NULL else None
        copy = inter.Dup()
        peer = inter.rank if inter.rank < inter.remote_size else MPI.PROC_NULL
        heard = copy.sendrecv(inter.rank * 10 + high, peer, source=peer)
        inter.Free()
        copy.Disconnect()
        return both.rank, both.size, total, sizes, heard

    def child(comm: Any) -> None:
        found = everyone(comm.Get_parent(), True)
        assert comm.Get_parent() == MPI.COMM_NULL  # it was freed
        assert found == (comm.rank + 2, 5, 10, [(2, 1), (1, 1), (2, 1)][comm.rank], [0, 10, None][comm.rank])

    def main(comm: Any) -> Any:
        return everyone(comm.Spawn(child, maxprocs=3), False)

    assert run(main, 2, backend) == [(0, 5, 10, (1, 2), 1), (1, 5, 10, (1, 1), 11)]


@given(n=st.integers(1, 4), m=st.integers(1, 5))
@settings(max_examples=10)
def test_parents_and_children_call_collectives(backend: Any, n: int, m: int) -> None:
    """Between the two groups, as for any intercommunicator."""

    def everyone(inter: Any, mine: int) -> Any:
        total = np.zeros(1)
        inter.Allreduce(np.array([float(mine)]), total)
        return inter.allgather(mine), total[0]

    def child(comm: Any) -> None:
        parent = comm.Get_parent()
        assert parent.bcast(None, 0) == "go"
        assert everyone(parent, 10 + comm.rank) == (list(range(n)), sum(range(n)))
        assert parent.Split(0).gather(comm.rank, n - 1) is None
        parent.Disconnect()

    def main(comm: Any) -> Any:
        children = comm.Spawn(child, maxprocs=m)
        children.bcast("go", MPI.ROOT if comm.rank == 0 else MPI.PROC_NULL)
        found = everyone(children, comm.rank)
        gathered = children.Split(0).gather(None, MPI.ROOT if comm.rank == n - 1 else MPI.PROC_NULL)
        children.Disconnect()
        return *found, gathered

    theirs = list(range(10, 10 + m))
    assert run(main, n, backend) == [(theirs, sum(theirs), list(range(m)) if rank == n - 1 else None) for rank in range(n)]


def test_buffers_are_sent_to_children() -> None:
    """Directly into their buffers, in modeled time."""

    def child(comm: Any) -> None:
        data = np.empty(4)
        comm.Get_parent().Recv(data, 0)
        assert data.tolist() == [0, 1, 2, 3]

    def main(comm: Any) -> None:
        children = MPI.COMM_SELF.Spawn(child, maxprocs=3)
        for rank in range(3):
            children.Send(np.arange(4.0), rank)

    done = fakempi.run(main, 1, cost=UNIT, trace=True)
    assert done.clocks == [96, 32, 64, 96]
    assert done.trace is not None
    assert [(one.source, one.dest) for one in done.trace.transfers] == [(0, 1), (0, 2), (0, 3)]
    assert done.sent == [(3, 96), (0, 0), (0, 0), (0, 0)]


def test_several_programs_share_a_world(backend: Any) -> None:
    """Each has its program number."""

    def worker(comm: Any, *args: Any) -> None:
        parent = comm.Get_parent()
        parent.send((comm.rank, comm.size, comm.Get_attr(MPI.APPNUM), args), 0)

    def other(comm: Any) -> None:
        worker(comm, "other")

    def main(comm: Any) -> Any:
        codes: list[list[int]] = []
        children = comm.Spawn_multiple([worker, other], [["a", 1], None], [2, 1], errcodes=codes)
        alone = comm.Spawn_multiple([other], errcodes=[])
        assert alone.remote_size == 1
        if comm.rank:
            return codes
        return [children.recv(source=rank) for rank in range(3)], alone.recv()

    programs = [(0, 3, 0, ("a", 1)), (1, 3, 0, ("a", 1)), (2, 3, 1, ("other",))]
    assert run(main, 2, backend) == [(programs, (0, 1, 0, ("other",))), [[0, 0], [0]]]


def test_a_thousand_children(backend: Any) -> None:
    """Of one parent."""

    def child(comm: Any) -> None:
        parent = comm.Get_parent()
        parent.send(comm.rank, 0)
        parent.Disconnect()

    def main(comm: Any) -> int:
        children = comm.Spawn(child, maxprocs=1000)
        total: int = sum(children.recv() for _ in range(1000))
        children.Disconnect()
        return total

    assert run(main, 1, backend) == [sum(range(1000))]


def test_the_universe_size_is_that_of_the_placement() -> None:
    """Without a placement, the number of started ranks."""

    def main(comm: Any) -> Any:
        comm.Spawn(idle)
        return MPI.COMM_WORLD.Get_attr(MPI.UNIVERSE_SIZE), comm.Get_attr(MPI.APPNUM)

    assert run(main, 2) == [(2, 0)] * 2
    assert run(main, 1, cost=TwoLevel(placement="aabb")) == [(4, 0)]


def test_children_take_the_next_places() -> None:
    """Of a cluster; without free places the call fails."""

    def child(comm: Any) -> None:
        comm.Get_parent().send(MPI.Get_processor_name(), 0)

    def main(comm: Any) -> Any:
        children = comm.Spawn(child, maxprocs=3)
        return [children.recv(source=rank) for rank in range(3)]

    assert run(main, 1, cost=TwoLevel(2)) == [["node0", "node1", "node1"]]
    assert run(main, 1, cost=TwoLevel(placement="abab")) == [["b", "a", "b"]]

    def crowded(comm: Any) -> None:
        site = line(crowded, "comm." + "Spawn(idle, maxprocs=3)")
        words = (
            f"Spawn at {site}: no place for 3 new processes in addition to the 2 that exist. "
            "TwoLevel: placement has nodes for 4 ranks, and none for rank 4."
        )
        with fails(words, MPI.ERR_SPAWN):
            comm.Spawn(idle, maxprocs=3)
        comm.Spawn(idle, maxprocs=2)

    run(crowded, 2, cost=TwoLevel(placement="aabb"))


def test_the_same_program_gives_the_same_trace(backend: Any) -> None:
    """On every run and on both backends."""

    def child(comm: Any) -> None:
        parent = comm.Get_parent()
        comm.sendrecv(b"x" * comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        parent.send(b"y" * 100, comm.rank % parent.remote_size)

    def main(comm: Any) -> Any:
        groups = [comm.Spawn(child, maxprocs=number) for number in (3, 2)]
        status = MPI.Status()
        order = []
        for group in groups:
            for _ in range(sum(rank % 2 == comm.rank for rank in range(group.remote_size))):
                group.recv(status=status)
                order.append((status.source, MPI.Wtime()))
        return order

    first, second = (fakempi.run(main, 2, backend=each, trace=True) for each in (backend, "threads"))
    assert first.trace is not None
    assert second.trace is not None
    assert (first.returns, first.clocks, first.trace.transfers) == (second.returns, second.clocks, second.trace.transfers)


@given(seed=st.integers(0, 5))
def test_other_schedules_give_the_same_results(backend: Any, seed: int) -> None:
    """In any order of arrival."""

    def child(comm: Any) -> None:
        comm.Get_parent().send(comm.allreduce(comm.rank), 0)

    def main(comm: Any) -> Any:
        children = [comm.Split(comm.rank).Spawn(child, maxprocs=size) for size in (1, 3)]
        return [group.recv() for group in children]

    assert run(main, 3, backend, seed=seed) == [[0, 3]] * 3


# -- errors --------------------------------------------------------------------------------------------------------


def test_a_child_that_fails_ends_the_run_and_is_named(backend: Any) -> None:
    """By its rank, its group and the place of the spawn."""

    def child(comm: Any) -> None:
        if comm.rank == 2:
            raise ValueError("no luck")
        comm.recv()

    def main(comm: Any) -> None:
        comm.Spawn(child, maxprocs=3).recv()

    with pytest.raises(fakempi.RankError) as caught:
        run(main, 2, backend)
    name = f"rank 2 of the group spawned at {line(main, 'comm.Spawn(child')}"
    assert str(caught.value) == f"{name} failed with ValueError: no luck"
    assert (caught.value.rank, caught.value.name) == (4, name)


def test_a_deadlock_names_children_unambiguously(backend: Any) -> None:
    """Two groups from one line are numbered."""

    def child(comm: Any, number: int) -> None:
        comm.Get_parent().recv(tag=number)

    def main(comm: Any) -> None:
        for number in range(2):
            children = comm.Spawn(child, [number], 2)
        children.recv(source=1, tag=5)

    with pytest.raises(fakempi.DeadlockError) as caught:
        run(main, 1, backend)
    spawned, receives = line(main, "comm.Spawn(child"), line(child, "recv(tag=number)")
    first, second = (f"of the {which} group spawned at {spawned}" for which in ("1st", "2nd"))
    parent = "intercommunicator"
    assert str(caught.value).splitlines() == [
        "deadlock at t = 0 s: 5 of 5 ranks are blocked, and nothing can wake them.",
        "  rank 0: recv(source=1, tag=5 on intercommunicator 5 (1 + 2 ranks)) at " + line(main, "tag=5") + ", since t = 0",
        f"  ranks 0-1 {first}: recv(source=ANY, tag=number (0) on {parent} 3 (1 + 2 ranks)) at {receives}, since t = 0",
        f"  ranks 0-1 {second}: recv(source=ANY, tag=number (1) on {parent} 5 (1 + 2 ranks)) at {receives}, since t = 0",
    ]
    assert [one.rank for one in caught.value.blocked] == [0, 1, 2, 3, 4]


def test_a_deadlock_within_a_childs_world_has_its_ranks(backend: Any) -> None:
    """Also in the cycle."""

    def child(comm: Any) -> None:
        comm.recv(source=(comm.rank + 1) % comm.size)

    def main(comm: Any) -> None:
        comm.Spawn(child, maxprocs=2)

    with pytest.raises(fakempi.DeadlockError) as caught:
        run(main, 1, backend)
    group = f"of the group spawned at {line(main, 'comm.Spawn(child')}"
    receives = line(child, "comm.recv(source=(")
    assert str(caught.value).splitlines() == [
        "deadlock at t = 0 s: 2 of 3 ranks are blocked, and nothing can wake them.",
        f"  rank 0 {group}: recv(source=(comm.rank + 1) % comm.size (1), tag=ANY) at {receives}, since t = 0",
        f"  rank 1 {group}: recv(source=(comm.rank + 1) % comm.size (0), tag=ANY) at {receives}, since t = 0",
        f"  cycle: 0 {group} → 1 {group} → 0 {group}",
    ]


def test_findings_name_children_too() -> None:
    """By the same rule."""

    def child(comm: Any) -> None:
        group = f"rank 0 of the group spawned at {line(main, 'comm.Spawn(child')}"
        with fails(f"Send on {group}: dest 5 is not in 0..0: the communicator has 1 rank.", MPI.ERR_RANK):
            comm.Send(b"", 5)

    def main(comm: Any) -> None:
        comm.Spawn(child)

    run(main, 1)


def test_a_missing_parent_is_reported() -> None:
    """The report names it."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.Spawn(idle)

    words = r"\n  ranks 1-2: Spawn\(waits for rank 0\) at .*; rank 0 has ended$"
    with pytest.raises(fakempi.DeadlockError, match=words):
        run(main, 3)


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "words"),
    [
        ({"maxprocs": 0}, MPI.ERR_ARG, ValueError, "maxprocs is 0; at least 1 process must be spawned."),
        ({"maxprocs": -3}, MPI.ERR_ARG, ValueError, "maxprocs is -3; at least 1 process must be spawned."),
        ({"maxprocs": 1.5}, MPI.ERR_ARG, TypeError, "maxprocs is 1.5, not an integer."),
        ({"maxprocs": "2"}, MPI.ERR_ARG, TypeError, "maxprocs is '2', not an integer."),
        ({"command": 7}, MPI.ERR_ARG, TypeError, "command is 7, not a function or the path of a script."),
        ({"info": {}}, MPI.ERR_INFO, TypeError, "info is {}, not an Info."),
        ({"command": "a.py", "args": [1]}, MPI.ERR_ARG, TypeError, "a script's args are strings, not 1."),
        (
            {"command": "ls"}, MPI.ERR_SPAWN, MPI.Exception,
            "'ls' is not a Python script (.py); other programs cannot run in this process.",
        ),
        (
            {"command": "python3"}, MPI.ERR_SPAWN, MPI.Exception,
            "python3 has nothing to run: args must begin with a script or -m and a module.",
        ),
    ],
)  # fmt: skip
def test_invalid_spawn_arguments(arguments: dict[str, Any], code: int, kind: type[BaseException], words: str) -> None:
    """All ranks get the error of the root."""

    def main(comm: Any) -> None:
        with fails(f"Spawn on rank 1: {words}", code, kind):
            comm.Spawn(**{"command": idle, "root": 1, **arguments})
        comm.Barrier()

    run(main, 3)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (("a.py",), ValueError, "command is 'a.py', not a sequence of commands."),
        pytest.param((idle,), ValueError, f"command is {idle!r}, not a sequence of commands.", id="a function"),
        (([],), ValueError, "the sequence of commands is empty."),
        (([idle, idle], [[]]), ValueError, "expecting 2 items of args, one for each command, got 1."),
        (([idle], None, [1, 2]), ValueError, "expecting 1 items of maxprocs, one for each command, got 2."),
        (([idle], None, None, []), ValueError, "expecting 1 items of info, one for each command, got 0."),
        (([idle], None, [0]), ValueError, "maxprocs is 0; at least 1 process must be spawned."),
    ],
)
def test_invalid_lists_are_rejected(arguments: tuple[Any, ...], kind: type[BaseException], words: str) -> None:
    """For several commands."""

    def main(comm: Any) -> None:
        with fails(f"Spawn_multiple on rank 0: {words}", MPI.ERR_ARG, kind):
            comm.Spawn_multiple(*arguments)

    run(main, 2)


def test_different_roots_are_rejected() -> None:
    """Different calls, too."""

    def main(comm: Any) -> None:
        with fails("Spawn: root is 0 on rank 0 but 1 on rank 1.", MPI.ERR_NOT_SAME):
            comm.Spawn(idle, root=comm.rank)
        with fails(f"Spawn on rank {comm.rank}: root 2 is not in 0..1.", MPI.ERR_ROOT):
            comm.Spawn(idle, root=2)

    run(main, 2)

    def mixed(comm: Any) -> None:
        if comm.rank:
            comm.Spawn_multiple([idle])
        else:
            comm.Spawn(idle)

    with pytest.raises(fakempi.RankError, match="this rank calls Spawn_multiple at .*, but rank 0 of the same .* Spawn at"):
        run(mixed, 2)


def test_info_without_effect_is_accepted() -> None:
    """Hosts and soft limits, for example; all requested processes are started."""

    def main(comm: Any) -> int:
        info = MPI.Info.Create({"host": "elsewhere", "soft": "1:2"})
        size: int = comm.Spawn(idle, maxprocs=3, info=info).remote_size
        return size

    assert run(main, 1) == [3]


# -- end of processes ----------------------------------------------------------------------------------------------


class HeldObject:
    """An object that a process holds."""


@pytest.mark.parametrize("how", ["returns", "fails", "hangs"])
def test_objects_of_children_are_freed_after_the_run(backend: Any, how: str) -> None:
    """However it ended."""
    held: list[weakref.ref[HeldObject]] = []

    def child(comm: Any) -> None:
        mine = HeldObject()
        held.append(weakref.ref(mine))
        parent = comm.Get_parent()
        parent.send(mine.__class__.__name__, 0)
        if how == "fails" and comm.rank == 1:
            raise ValueError
        if how != "returns":
            parent.recv()

    def main(comm: Any) -> None:
        children = comm.Spawn(child, maxprocs=3)
        if comm.rank == 0:
            for rank in range(3):
                children.recv(source=rank)

    with suppress(fakempi.RunError):
        fakempi.run(main, 2, backend=backend)
    gc.collect()
    assert len(held) == 3
    assert [one() for one in held] == [None] * 3


def test_a_parent_may_end_before_its_children(backend: Any) -> None:
    """The run lasts until the last of them."""

    def child(comm: Any) -> None:
        fakempi.compute(9)

    done = fakempi.run(lambda comm: bool(comm.Spawn(child)), 1, backend=backend)
    assert (done.returns, done.clocks, done.time) == ([True], [0, 9], 9)


def test_any_abort_ends_all_processes(backend: Any) -> None:
    """Parents and other children, too."""

    def child(comm: Any) -> None:
        if comm.rank:
            comm.Abort(3)
        comm.recv()

    def main(comm: Any) -> None:
        comm.Spawn(child, maxprocs=2).recv()

    with pytest.raises(fakempi.RankError, match=r"^rank 1 of the group spawned at .* failed with Aborted: Abort\(3\)"):
        run(main, 1, backend)
