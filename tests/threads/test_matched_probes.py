"""Several threads of a rank probe and receive at the same time: each message is received by exactly one of them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI, Hockney

WAYS = ("mprobe", "Mprobe", "improbe", "Improbe", "Message.Probe", "recv", "irecv")


def one_message(comm: Any, way: str, source: int, tag: int) -> tuple[int, int]:
    """Receive a message in this way; return its sender and number."""
    status = MPI.Status()
    if way in ("recv", "irecv"):
        buf = np.zeros(2, "i8")
        if way == "recv":
            comm.Recv(buf, source, tag, status)
        else:
            comm.Irecv(buf, source, tag).Wait(status)
    else:
        if way == "Message.Probe":
            message = MPI.Message.Probe(comm, source, tag, status)
        elif way.startswith(("im", "Im")):
            while (found := getattr(comm, way)(source, tag, status)) is None:
                pass
            message = found
        else:
            message = getattr(comm, way)(source, tag, status)
        buf = np.zeros(status.Get_count(MPI.INT64_T), "i8")
        seen = status.source
        message.Recv(buf, status)
        assert seen == status.source
        assert not message
    assert buf[0] == status.source
    return int(buf[0]), int(buf[1])


def main(comm: Any, plan: list[list[tuple[str, int, int]]], sends: dict[int, list[tuple[int, int]]]) -> Any:
    """Rank 0's threads receive as planned; each other rank sends messages of a tag and a length."""
    if comm.rank:
        for number, (tag, length) in enumerate(sends[comm.rank]):
            data = np.full(length, comm.rank, "i8")
            data[1] = number
            comm.Send(data, 0, tag)
        return None

    def work(steps: list[tuple[str, int, int]]) -> list[tuple[int, int]]:
        return [one_message(comm, *step) for step in steps]

    with ThreadPoolExecutor(len(plan)) as pool:
        return [each for part in pool.map(work, plan) for each in part]


def test_each_message_is_received_once_for_any_probes_of_threads(backend: Any) -> None:
    """Probes of all kinds and receives, by 2 to 4 threads, from named sources and from any, buffered and not."""
    draw = random.Random(14)
    costs = [Hockney(), Hockney(eager_limit=0), Hockney(eager_limit=100), fakempi.ZeroCost()]
    for seed in range(25):
        ranks, tag, any_source = draw.randint(2, 4), draw.choice([5, MPI.ANY_TAG]), draw.random() < 0.7
        sends = {r: [(5, 2 if draw.random() < 0.7 else 40) for _ in range(draw.randint(1, 5))] for r in range(1, ranks)}
        # Only a probe knows the length of a message, so receives are for programs with short messages only.
        ways = WAYS if all(length == 2 for many in sends.values() for _, length in many) else WAYS[:5]
        steps = [(draw.choice(ways), MPI.ANY_SOURCE if any_source else r, tag) for r, many in sends.items() for _ in many]
        draw.shuffle(steps)
        threads = draw.randint(2, 4)
        plan = [steps[i::threads] for i in range(threads)]
        run = fakempi.run(main, ranks, plan, sends, cost=costs[seed % 4], backend=backend, seed=seed or None)
        assert sorted(run.returns[0]) == [(r, i) for r, many in sends.items() for i in range(len(many))]
        assert [one for one in run.findings if not one.note] == []


def test_a_message_is_received_by_one_of_the_threads_that_share_its_handle(backend: Any) -> None:
    """For the other thread it is null."""

    def shared(comm: Any) -> Any:
        if comm.rank:
            return comm.send("once", 0)
        message = comm.mprobe()

        def receive(_: int) -> Any:
            try:
                return message.recv()
            except MPI.Exception as error:
                return error.Get_error_class()

        with ThreadPoolExecutor(3) as pool:
            return sorted(map(str, pool.map(receive, range(3))))

    assert fakempi.run(shared, 2, backend=backend).returns[0] == [str(MPI.ERR_REQUEST)] * 2 + ["once"]


def test_a_waiting_probe_continues_with_the_next_message_if_another_thread_takes_the_first(backend: Any) -> None:
    """Probe and receive: the message that a probe reports is available when the probe returns."""

    def late(comm: Any) -> Any:
        if comm.rank:
            for number in range(2):
                comm.Send(np.full(1000 + number, number, "i8"), 0)
            return None
        sizes = []

        def probe() -> None:
            status = MPI.Status()
            comm.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            sizes.append(status.Get_count(MPI.INT64_T))

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(probe)
            first = np.zeros(2000, "i8")
            comm.Recv(first)
            waiting.result()
            second = np.zeros(2000, "i8")
            comm.Recv(second)
        return sizes, int(first[0]), int(second[0])

    assert fakempi.run(late, 2, backend=backend).returns[0] == ([1001], 0, 1)
