"""unsafe-send is reported for programs that deadlock without buffering, and for no others."""

from __future__ import annotations

import threading
from random import Random
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.base import unbuffered
from tests.helpers.breadth import breadth
from tests.helpers.loops import for_each

COSTS = [fakempi.Hockney(), fakempi.ZeroCost(), fakempi.LogGP(1e-6, 1e-6, 1e-6, 1e-9)]
UNBUFFERED = fakempi.Hockney(eager_limit=0)


def unsafe(main: Any, size: int, **options: Any) -> list[fakempi.Finding]:
    """Return the findings of kind unsafe-send."""
    return [found for found in fakempi.run(main, size, **options).findings if found.kind == "unsafe-send"]


def deadlocks(main: Any, size: int) -> bool:
    """Whether a program deadlocks without buffering."""
    try:
        fakempi.run(main, size, cost=UNBUFFERED)
    except fakempi.DeadlockError:
        return True
    return False


def head_to_head(comm: MPI.Comm) -> None:
    """Both send, and then receive."""
    comm.Send(np.zeros(1), comm.Get_rank() ^ 1)
    comm.Recv(np.zeros(1), comm.Get_rank() ^ 1)


def ring(comm: MPI.Comm) -> None:
    """Each rank sends to the right, and then receives."""
    comm.send(0, (comm.Get_rank() + 1) % comm.Get_size())
    comm.recv(source=(comm.Get_rank() - 1) % comm.Get_size())


def to_itself(comm: MPI.Comm) -> None:
    """A message to the same rank."""
    comm.send(0, comm.Get_rank())
    comm.recv()


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@for_each("cost", COSTS)
@for_each("main", [head_to_head, ring, to_itself])
def test_a_cycle_of_sends_is_reported_with_its_line(main: Any, cost: Any, backend: Any) -> None:
    """All ranks in the cycle share one finding."""
    for size in (2, 4, 6):
        (finding,) = fakempi.run(main, size, cost=cost, backend=backend).findings
        assert (finding.kind, finding.ranks, finding.note) == ("unsafe-send", tuple(range(size)), False)
        assert finding.place == f"test_unsafe_sends.py:{main.__code__.co_firstlineno + 2}"
        assert "would deadlock without buffering" in finding.sentence


def ring_after_a_gather(comm: MPI.Comm) -> None:
    """The ranks reach the ring at different times."""
    rank, size = comm.Get_rank(), comm.Get_size()
    comm.allreduce(rank)
    if rank:
        comm.send(rank, 0, 7)
    for _ in range(0 if rank else size - 1):
        comm.recv(source=MPI.ANY_SOURCE, tag=7)
    comm.Send(np.zeros(1), (rank + 1) % size)
    comm.Recv(np.zeros(1), (rank - 1) % size)


@pytest.mark.parametrize("fused", ["auto", "never"])
def test_a_cycle_is_found_at_any_times_of_its_calls(fused: str) -> None:
    """The report depends on the outcome without buffering, not on which receives are posted when a send starts."""
    for size in (2, 3, 4, 5, 6, 7, 8, 9, 12, 16):
        (finding,) = unsafe(ring_after_a_gather, size, fused=fused)
        assert finding.ranks == tuple(range(size))
    with pytest.raises(fakempi.FindingsError, match="unsafe-send: ranks 0-7: Send at"):
        fakempi.run(ring_after_a_gather, 8, strict=True)


def tags_in_another_order(comm: MPI.Comm) -> None:
    """The first message is received last."""
    if comm.Get_rank() == 0:
        comm.send(0, 1, 1)
        comm.send(0, 1, 2)
    else:
        comm.recv(source=0, tag=2)
        comm.recv(source=0, tag=1)


def received_after_a_barrier(comm: MPI.Comm) -> None:
    """The receiver is in the barrier before it receives."""
    if comm.Get_rank() == 0:
        comm.send(0, 1)
    comm.Barrier()
    if comm.Get_rank() == 1:
        comm.recv(source=0)


def received_after_a_split(comm: MPI.Comm) -> None:
    """The same with a call that makes a communicator."""
    if comm.Get_rank() == 0:
        comm.send(0, 1)
    comm.Split(0).Free()
    if comm.Get_rank() == 1:
        comm.recv(source=0)


def received_after_an_ibarrier(comm: MPI.Comm) -> None:
    """The same with a nonblocking collective."""
    if comm.Get_rank() == 0:
        comm.send(0, 1)
    comm.Ibarrier().Wait()
    if comm.Get_rank() == 1:
        comm.recv(source=0)


def waits_before_it_receives(comm: MPI.Comm) -> None:
    """A nonblocking send, which completes with its Wait."""
    request = comm.isend(0, comm.Get_rank() ^ 1)
    request.wait()
    comm.recv(source=comm.Get_rank() ^ 1)


def probes_in_another_order(comm: MPI.Comm) -> None:
    """A probe waits for the second message."""
    if comm.Get_rank() == 0:
        comm.send(0, 1, 1)
        comm.send(0, 1, 2)
    else:
        comm.probe(source=0, tag=2)
        comm.recv(source=0, tag=1)
        comm.recv(source=0, tag=2)


@pytest.mark.parametrize("fused", ["auto", "never"])
@pytest.mark.parametrize(
    "main",
    [
        tags_in_another_order, received_after_a_barrier, received_after_a_split, received_after_an_ibarrier,
        waits_before_it_receives, probes_in_another_order,
    ],
)  # fmt: skip
def test_a_cycle_through_other_calls_is_found(main: Any, fused: str) -> None:
    """A send waits for a receive, which follows a call that depends on the send."""
    size = 8 if "after" in main.__name__ else 2
    assert unsafe(main, size, fused=fused)[0].ranks in ((0,), (0, 1))
    assert deadlocks(main, size)


def posts_first(comm: MPI.Comm) -> None:
    """The receive is posted before the send."""
    for _ in range(3):
        request = comm.irecv(source=comm.Get_rank() ^ 1)
        comm.send(0, comm.Get_rank() ^ 1)
        request.wait()


def takes_turns(comm: MPI.Comm) -> None:
    """Even ranks send first."""
    if comm.Get_rank() % 2:
        comm.recv()
    comm.send(0, comm.Get_rank() ^ 1)
    if not comm.Get_rank() % 2:
        comm.recv()


def chain(comm: MPI.Comm) -> None:
    """All but the last send to the right, then all but the first receive: the last one receives first."""
    if comm.Get_rank() < comm.Get_size() - 1:
        comm.send(0, comm.Get_rank() + 1)
    if comm.Get_rank():
        comm.recv(source=comm.Get_rank() - 1)


def thread_sends(comm: MPI.Comm) -> None:
    """One thread sends while the other one receives."""
    thread = threading.Thread(target=comm.send, args=(0, comm.Get_rank() ^ 1))
    thread.start()
    comm.recv(source=comm.Get_rank() ^ 1)
    thread.join()


def polls_before_it_receives(comm: MPI.Comm) -> None:
    """A test does not wait: without buffering it returns False, and the program continues."""
    request = comm.isend(0, comm.Get_rank() ^ 1)
    request.test()
    comm.recv(source=comm.Get_rank() ^ 1)
    request.wait()


def waits_for_any(comm: MPI.Comm) -> None:
    """Waitany returns the receive if the send is not complete."""
    other = comm.Get_rank() ^ 1
    requests = [comm.isend(0, other), comm.irecv(source=other)]
    for _ in requests:
        MPI.Request.waitany(requests)


def root_goes_on(comm: MPI.Comm) -> None:
    """A gather needs the data of the others at its root only."""
    if comm.Get_rank() == 1:
        comm.Send(np.zeros(1), 2)
    comm.Gather(np.zeros(1), np.zeros(comm.Get_size()) if comm.Get_rank() == 0 else None)
    if comm.Get_rank() == 2:
        comm.Recv(np.zeros(1), 1)


def takes_any_first(comm: MPI.Comm) -> None:
    """Rank 2's message, which is sent after rank 1's long one, arrives first."""
    if comm.Get_rank() == 1:
        comm.Send(np.zeros(4000), 0)
        comm.Send(np.zeros(1), 2)
    elif comm.Get_rank() == 2:
        comm.Recv(np.zeros(1), 1)
        comm.Send(np.zeros(1), 0)
    elif comm.Get_rank() == 0:
        fakempi.compute(1)
        comm.Recv(np.zeros(4000), MPI.ANY_SOURCE)
        comm.Recv(np.zeros(4000), MPI.ANY_SOURCE)


@for_each("cost", COSTS)
@for_each(
    "main", [posts_first, takes_turns, chain, thread_sends, polls_before_it_receives, waits_for_any, takes_any_first]
)
def test_programs_that_end_without_buffering_are_not_reported(main: Any, cost: Any) -> None:
    """Exchanges whose receives are posted first, chains, and sends of another thread."""
    assert unsafe(main, 4, cost=cost) == []
    assert not deadlocks(main, 4)


def test_a_collective_call_depends_on_the_data_that_it_needs() -> None:
    """Rank 2 sends its data and continues; it does not wait for rank 1."""
    assert unsafe(root_goes_on, 4) == []


def test_a_wildcard_that_could_have_matched_the_other_message_is_no_cycle() -> None:
    """Without buffering, the message that the wildcard matched in this run has not been sent yet."""

    class Uneven(fakempi.CostModel):
        """Messages from rank 1 to rank 0 take long."""

        in_order = False

        def transfer(self, source: int, dest: int, nbytes: int) -> Any:
            """Seconds on the ports, until the sender is done, and until it has arrived."""
            return 1e-6, 1e-6, 1.0 if (source, dest) == (1, 0) else 1e-6

    def main(comm: MPI.Comm) -> list[int]:
        if comm.Get_rank() == 1:
            comm.send(1, 0)
            comm.send(1, 2)
        elif comm.Get_rank() == 2:
            comm.recv(source=1)
            comm.send(2, 0)
        return [comm.recv(), comm.recv()] if comm.Get_rank() == 0 else []

    run = fakempi.run(main, 3, cost=Uneven())
    assert run.returns[0] == [2, 1]
    assert [found.kind for found in run.findings if not found.note] == []
    assert not deadlocks(main, 3)


def random_program(random: Random) -> tuple[int, list[list[tuple[Any, ...]]]]:
    """Blocks of messages, each of which is received, in random order; some blocks end with a collective call."""
    size = random.randint(1, 16) if random.random() < 0.5 else random.randint(2, 4)
    steps: list[list[tuple[Any, ...]]] = [[] for _ in range(size)]
    for block in range(random.randint(1, 3)):
        part: list[list[tuple[Any, ...]]] = [[] for _ in range(size)]
        if random.random() < 0.3:
            kind = random.choice(["send first", "sendrecv", "odd ranks receive first"])
            for rank in range(size):
                right, left = (rank + 1) % size, (rank - 1) % size
                both = [("send", right, 0), ("recv", left, 0)]
                part[rank] = [("sendrecv", right, left)] if kind == "sendrecv" else both
                if kind == "odd ranks receive first" and rank % 2:
                    part[rank].reverse()
        for number in range(random.randint(0, 3 if size < 5 else size)):
            source, dest, tag = random.randrange(size), random.randrange(size), random.randint(0, 2)
            for rank, step in ((source, ("send", dest, tag)), (dest, ("recv", source, tag))):
                at = random.randint(0, len(part[rank]))
                if random.random() < 0.4:
                    name = (step[0], block, number)
                    part[rank].insert(at, ("i" + step[0], *step[1:], name))
                    part[rank].insert(random.randint(at + 1, len(part[rank])), ("wait", name))
                else:
                    before = "s" if random.random() < 0.1 and step[0] == "send" else ""
                    part[rank].insert(at, (before + step[0], *step[1:]))
        collective = random.choice([None, "Barrier", "allreduce", "alltoall", "Dup", "Ibarrier"])
        for rank in range(size):
            steps[rank] += part[rank] + ([] if collective is None else [(collective,)])
    return size, steps


def carry_out(comm: MPI.Comm, steps: list[list[tuple[Any, ...]]]) -> None:
    """Execute the steps of this rank."""
    requests: dict[Any, Any] = {}
    for call, *rest in steps[comm.Get_rank()]:
        if call in ("send", "ssend"):
            getattr(comm, call)(0, *rest)
        elif call == "recv":
            comm.recv(source=rest[0], tag=rest[1])
        elif call == "isend":
            requests[rest[2]] = comm.isend(0, rest[0], rest[1])
        elif call == "irecv":
            requests[rest[2]] = comm.irecv(source=rest[0], tag=rest[1])
        elif call == "wait":
            requests[rest[0]].wait()
        elif call == "sendrecv":
            comm.sendrecv(0, rest[0], source=rest[1])
        elif call == "Ibarrier":
            comm.Ibarrier().Wait()
        elif call == "Dup":
            comm.Dup().Free()
        else:
            getattr(comm, call)(*{"allreduce": (1,), "alltoall": (range(comm.Get_size()),)}.get(call, ()))


def check_random_programs(seeds: range) -> None:
    """Compare the report with the outcome without buffering."""
    seen = {True: 0, False: 0}
    for seed in seeds:
        random = Random(seed)
        size, steps = random_program(random)
        cost, fused = random.choice(COSTS), random.choice(["auto", "never"])
        try:
            reported = bool(unsafe(lambda comm: carry_out(comm, steps), size, cost=cost, fused=fused))  # noqa: B023
        except fakempi.DeadlockError:
            continue
        assert reported == deadlocks(lambda comm: carry_out(comm, steps), size), seed  # noqa: B023
        seen[reported] += 1
    assert min(seen.values()) > len(seeds) / 8  # both occur often


def test_unsafe_sends_are_reported_if_and_only_if_the_program_deadlocks_without_buffering() -> None:
    """On random programs without wildcards."""
    check_random_programs(range(100))


def test_a_run_with_too_many_steps_has_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not look like a run without unsafe sends; a strict run does not fail because of it."""

    def main(comm: Any) -> None:
        comm.send(0, 1 - comm.rank, tag=9)
        for _ in range(50):
            comm.sendrecv(0, 1 - comm.rank, recvtag=0)
        comm.recv(source=1 - comm.rank, tag=9)

    monkeypatch.setattr(unbuffered, "MAX_STEPS", 50)
    for strict in (False, True):
        assert [(one.note, one.sentence[:18]) for one in unsafe(main, 2, strict=strict)] == [(True, "more than 50 steps")]


@pytest.mark.slow
def test_the_same_on_more_programs() -> None:
    """With other seeds."""
    check_random_programs(range(100, breadth(400, 1200)))


def test_with_wildcards_each_report_is_true_for_the_matching_of_the_run() -> None:
    """On random programs: with the sources and tags that were received, the program deadlocks without buffering."""
    reports = 0
    for seed in range(150):
        random = Random(seed)
        size = random.randint(2, 6)
        steps: list[list[tuple[Any, ...]]] = [[] for _ in range(size)]
        for _ in range(random.randint(2, 12)):
            source, dest, tag, wild = random.randrange(size), random.randrange(size), random.randint(0, 1), random.random()
            steps[source].insert(random.randint(0, len(steps[source])), ("send", dest, tag))
            receive = "recv", MPI.ANY_SOURCE if wild < 0.6 else source, MPI.ANY_TAG if wild < 0.3 else tag
            steps[dest].insert(random.randint(0, len(steps[dest])), receive)

        def main(comm: MPI.Comm, known: Any = None, steps: Any = steps) -> list[tuple[int, int]]:
            status = MPI.Status()
            got: list[tuple[int, int]] = []
            for call, peer, tag in steps[comm.Get_rank()]:
                if call == "send":
                    comm.send(0, peer, tag)
                else:
                    peer, tag = (peer, tag) if known is None else known[comm.Get_rank()][len(got)]
                    comm.recv(source=peer, tag=tag, status=status)
                    got.append((status.source, status.tag))
            return got

        try:
            run = fakempi.run(main, size, cost=random.choice(COSTS))
        except fakempi.DeadlockError:
            continue
        if any(found.kind == "unsafe-send" for found in run.findings):
            reports += 1
            assert deadlocks(lambda comm: main(comm, run.returns), size), seed  # noqa: B023
    assert reports > 10
