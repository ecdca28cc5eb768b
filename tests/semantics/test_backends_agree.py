"""The same program gives the same run: on both backends, repeated, and traced or not. Every event is compared."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, FatTree, Hockney, LogGP, Torus, TwoLevel, ZeroCost, compute, phantom, presets
from fakempi.core.network.express import Express
from tests.helpers.loops import for_each

BACKENDS = ["greenlets", "threads"] if find_spec("greenlet") else ["threads"]


class Record(NamedTuple):
    """Everything that can be observed of a run."""

    outcome: Any
    clocks: list[Any]
    messages: int
    bytes: int
    sent: Any
    received: Any
    transfers: list[Any]


def record(
    main: Callable[..., Any], nprocs: int, *args: Any, cost: CostModel, backend: Any, seed: Any, trace: bool = True
) -> Record:
    """Run the program and record everything; for a failing run, the message."""
    try:
        run = fakempi.run(main, nprocs, *args, cost=cost, backend=backend, trace=trace, seed=seed)
    except fakempi.RunError as error:
        return Record(f"{type(error).__name__}: {error}", [], 0, 0, [], [], [])
    transfers = [] if run.trace is None else list(run.trace.transfers)
    return Record(run.returns, run.clocks, run.messages, run.bytes, run.sent, run.received, transfers)


def check_agreement(
    main: Callable[..., Any], nprocs: int, *args: Any, cost: CostModel, seed: int | None = None
) -> Record:
    """Traced and untraced on each backend, and repeated and without the express path on the first one."""
    first = record(main, nprocs, *args, cost=cost, backend=BACKENDS[0], seed=seed)
    for backend in BACKENDS:
        again = record(main, nprocs, *args, cost=cost, backend=backend, seed=seed)
        assert again == first
        assert repr(again) == repr(first)  # 1 and 1.0 are equal, but not the same
        unwatched = record(main, nprocs, *args, cost=cost, backend=backend, seed=seed, trace=False)
        assert unwatched == first._replace(transfers=[])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Express, "serves", staticmethod(lambda cost: False))
        assert record(main, nprocs, *args, cost=cost, backend=BACKENDS[0], seed=seed) == first
    return first


# -- the programs ------------------------------------------------------------------------------------------------


def pingpong(comm: Any) -> float:
    """Ping-pong of growing size."""
    buffer = np.zeros(1 << 12)
    for size in (1, 10, 100, 1000, 4096):
        if comm.rank == 0:
            comm.Send(buffer[:size], 1)
            comm.Recv(buffer[:size], 1)
        elif comm.rank == 1:
            comm.Recv(buffer[:size], 0)
            comm.Send(buffer[:size], 0)
    return MPI.Wtime()


def ring(comm: Any) -> list[int]:
    """Objects around a ring."""
    found, mine = [], comm.rank
    for _ in range(comm.size):
        mine = comm.sendrecv(mine, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        found.append(mine)
    return found


def nonblocking(comm: Any) -> Any:
    """All to all, posted at once, completed in any way."""
    p = comm.size
    buffers = np.zeros((p, 4), dtype=int)
    receives = [comm.Irecv(buffers[other], other, tag=1) for other in range(p)]
    sends = [comm.Isend(np.full(4, comm.rank * p + other), other, tag=1) for other in reversed(range(p))]
    first = MPI.Request.Waitany(receives)
    some = MPI.Request.Waitsome(receives)
    compute(1e-6 * comm.rank)
    MPI.Request.Waitall(receives + sends)
    return first, some, buffers.tolist(), MPI.Wtime()


def wildcards(comm: Any) -> Any:
    """A server that receives from any client, with clients of different speeds."""
    if comm.rank:
        for job in range(4):
            compute((comm.rank * 7 + job * 3) % 5 * 1e-6)
            comm.send((comm.rank, job), 0, tag=job)
        return None
    status, messages = MPI.Status(), 4 * (comm.size - 1)
    return [(comm.recv(status=status), status.Get_source(), status.Get_tag(), MPI.Wtime()) for _ in range(messages)]


def polling(comm: Any) -> Any:
    """All ranks test, compute and probe in turn."""
    other, count = comm.size - 1 - comm.rank, 0
    request = comm.irecv(source=other)
    compute(comm.rank * 3e-6)
    comm.isend("x" * comm.rank, other)
    while not (found := request.test())[0]:
        count += 1
    comm.isend("second", other, tag=5)
    while not comm.Iprobe(source=other, tag=5):
        count += 1
        compute(1e-7)
    return found, comm.recv(source=other, tag=5), count, MPI.Wtime()


def probing(comm: Any) -> Any:
    """Sizes are not known in advance; messages are received by matched probes."""
    if comm.rank == 0:
        for other in range(1, comm.size):
            comm.Isend(np.arange(other * 10), other).Free()
        found = []
        for _ in range(comm.size - 1):
            message = comm.mprobe()
            found.append((message.recv(), MPI.Wtime()))
        return found
    status = MPI.Status()
    comm.Probe(0, status=status)
    buffer = np.zeros(status.Get_count(MPI.INT64_T), dtype=np.int64)
    comm.Recv(buffer, 0)
    comm.send(buffer.sum(), 0)
    return len(buffer)


def splitting(comm: Any) -> Any:
    """Rows and columns, and messages on all three communicators."""
    row, column = comm.Split(comm.rank // 3, -comm.rank), comm.Split(comm.rank % 3)
    found = [
        one.sendrecv((comm.rank, name), (one.rank + 1) % one.size, source=(one.rank - 1) % one.size)
        for one, name in ((row, "row"), (column, "column"), (comm.Dup(), "all"))
    ]
    compute(1e-6)
    return found, row.rank, column.rank, MPI.Wtime()


def intercommunicating(comm: Any) -> Any:
    """Two groups of different sizes."""
    low = comm.rank < comm.size // 3
    group = comm.Split(int(low))
    inter = group.Create_intercomm(0, comm, 0 if not low else comm.size // 3)
    if low:
        return [inter.recv(source=MPI.ANY_SOURCE) for _ in range(len(range(group.rank, inter.remote_size, group.size)))]
    inter.send(comm.rank, group.rank % inter.remote_size)
    return inter.Merge(high=False).rank


def persistent(comm: Any) -> Any:
    """A halo exchange, started repeatedly."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    mine, other = np.array([comm.rank]), np.zeros(1, dtype=int)
    requests = [comm.Recv_init(other, left), comm.Send_init(mine, right)]
    for _ in range(4):
        MPI.Prequest.Startall(requests)
        compute(comm.rank * 1e-7)
        MPI.Request.Waitall(requests)
        mine[0] = other[0] + 1
    return int(mine[0])


def master_and_workers(comm: Any) -> Any:
    """Work is distributed as workers become free; ties between workers are likely."""
    if comm.rank == 0:
        status, order = MPI.Status(), []
        for job in range(3 * comm.size):
            comm.recv(source=MPI.ANY_SOURCE, status=status)
            order.append(status.Get_source())
            comm.send(job, status.Get_source())
        for other in range(1, comm.size):
            comm.recv(source=other)
            comm.send(None, other)
        return order
    done: list[int] = []
    while True:
        comm.send(comm.rank, 0)
        job = comm.recv(source=0)
        if job is None:
            return done
        compute((job * 13 % 7 + comm.rank) * 1e-6)
        done.append(job)


def incast(comm: Any) -> Any:
    """All ranks send to one at once, more than its port can take."""
    if comm.rank:
        requests = [comm.Isend(phantom(comm.rank * 100 + i), 0) for i in range(3)]
        MPI.Request.Waitall(requests)
        return MPI.Wtime()
    status, found = MPI.Status(), []
    for _ in range(3 * (comm.size - 1)):
        comm.Recv(phantom(1 << 20), status=status)
        found.append((status.Get_source(), status.Get_count(MPI.BYTE), MPI.Wtime()))
    return found


def transpose(comm: Any) -> Any:
    """Each pair exchanges, in rounds."""
    found = []
    for step in range(1, comm.size):
        to, source = (comm.rank + step) % comm.size, (comm.rank - step) % comm.size
        buffer = bytearray(5)
        comm.Sendrecv(bytes([comm.rank] * 5), to, step, buffer, source, step)
        found.append(buffer[0])
    return found


def synchronous(comm: Any) -> Any:
    """Ssend in a chain, Bsend back, a cancelled receive, and a request without a wait."""
    cancelled = comm.irecv(source=comm.rank, tag=77)
    cancelled.Cancel()
    cancelled.wait()
    if comm.rank:
        comm.Recv(phantom(10), comm.rank - 1)
    if comm.rank + 1 < comm.size:
        comm.Ssend(phantom(10), comm.rank + 1)
    MPI.Attach_buffer(bytearray(10_000))
    comm.bsend(comm.rank, (comm.rank + 2) % comm.size, tag=4)
    comm.issend("never received", comm.rank, tag=9)
    return comm.recv(tag=4), MPI.Wtime()


def failing(comm: Any) -> None:
    """One rank fails while others wait, and another fails during cleanup."""
    try:
        compute(comm.rank * 1e-6)
        if comm.rank == 2:
            raise ValueError("two")
        comm.recv(source=2)
    finally:
        if comm.rank == 1:
            raise OSError("one")


def hanging(comm: Any) -> None:
    """A deadlock with near misses."""
    comm.send(comm.rank, (comm.rank + 1) % comm.size, tag=1)
    comm.recv(source=(comm.rank - 1) % comm.size, tag=2)


def spinning(comm: Any) -> None:
    """A livelock."""
    compute(1e-6 * comm.rank)
    while not comm.Iprobe(tag=comm.rank + 1):
        pass


def first_come(comm: Any) -> list[int]:
    """The order of service."""
    if comm.rank:
        compute(1)
        comm.send(comm.rank, 0)
        return []
    return [comm.recv() for _ in range(comm.size - 1)]


ZOO: list[tuple[Callable[..., Any], int]] = [
    (pingpong, 3), (ring, 5), (nonblocking, 6), (wildcards, 5), (polling, 4), (probing, 5), (splitting, 9),
    (intercommunicating, 7), (persistent, 5), (master_and_workers, 5), (incast, 6), (transpose, 7), (synchronous, 5),
    (failing, 4), (hanging, 6), (spinning, 3),
]  # fmt: skip
EXACT: Any = Fraction(1, 3_000_000), Fraction(1, 700_000_000)
COSTS: dict[str, CostModel] = {
    "Hockney": Hockney(),
    "synchronous": Hockney(t_s=2e-6, t_w=3e-9, eager_limit=0),
    "eager up to 100": Hockney(t_s=1e-6, t_w=1e-8, eager_limit=100),
    "half duplex": Hockney(duplex=False),
    "half duplex, synchronous": Hockney(duplex=False, eager_limit=0),
    "two ports": Hockney(ports=2),
    "half duplex, two ports": Hockney(ports=2, duplex=False),
    "two levels": TwoLevel(2),
    "two levels, half duplex, two network ports": TwoLevel(3, network_ports=2, duplex=False),
    "two levels, network ports held throughout": TwoLevel(2, network_gap=None),
    "torus": Torus((2, 2, 2), 2),
    "thin fat tree": FatTree((2, 8), links=(1, 1), eager_limit=0),
    "LogGP": LogGP(),
    "LogGP, synchronous": LogGP(L=1e-5, o=7e-7, g=2e-6, G=1e-9, eager_limit=0),
    "free": ZeroCost(),
    "Cori": presets.cori(4),
    "fractions": Hockney(*EXACT),
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("main", [main for main, _ in ZOO], ids=lambda main: main.__name__)
def test_a_program_gives_the_same_run_everywhere(main: Callable[..., Any], part: int) -> None:
    """Transfers, clocks, returns, counts and messages; each program with half of the models."""
    number = [program for program, _ in ZOO].index(main)
    for cost in list(COSTS.values())[(number + part) % 2 :: 2]:
        seen = check_agreement(main, ZOO[number][1], cost=cost)
        assert isinstance(seen.outcome, str) or len(seen.transfers) == seen.messages, cost


@pytest.mark.quick(4)
@for_each("seed", [0, 1])
@pytest.mark.parametrize(("main", "nprocs"), ZOO, ids=[main.__name__ for main, _ in ZOO])
def test_a_program_with_a_seed_gives_the_same_run_everywhere(main: Callable[..., Any], nprocs: int, seed: int) -> None:
    """Ties are broken at random, but the same way for the same seed."""
    check_agreement(main, nprocs, cost=Hockney(), seed=seed)


def test_another_seed_breaks_ties_differently() -> None:
    """Five clients call at the same time: the order of service depends on the seed only."""
    orders = {tuple(fakempi.run(first_come, 6, seed=seed, cost=ZeroCost()).returns[0]) for seed in range(10)}
    assert len(orders) > 5
    assert all(sorted(order) == [1, 2, 3, 4, 5] for order in orders)
    assert fakempi.run(first_come, 6, cost=ZeroCost()).returns[0] == [1, 2, 3, 4, 5]


# -- random graphs of messages ------------------------------------------------------------------------------------


class Step(NamedTuple):
    """The next step of a rank."""

    rank: int
    what: str
    peer: int
    tag: int
    amount: int


RANKS = 4
STEPS = st.lists(
    st.builds(
        Step,
        st.integers(0, RANKS - 1),
        st.sampled_from(["isend", "issend", "irecv", "compute", "test", "iprobe", "waitany", "improbe"]),
        st.integers(-1, RANKS - 1),
        st.integers(-1, 2),
        st.integers(0, 6),
    ),
    max_size=40,
)


def graph(comm: Any, steps: list[Step]) -> list[Any]:
    """Execute the steps of this rank, then receive pending messages for a while."""
    seen: list[Any] = []
    requests: list[Any] = []
    status = MPI.Status()
    for step in steps:
        if step.rank != comm.rank:
            continue
        if step.what in ("isend", "issend"):
            send = comm.Isend if step.what == "isend" else comm.Issend
            requests.append(send(phantom(step.amount), max(step.peer, 0), max(step.tag, 0)))
        elif step.what == "irecv":
            requests.append(comm.Irecv(phantom(10), step.peer, step.tag))
        elif step.what == "compute":
            compute(step.amount)
        elif step.what == "test" and requests:
            seen.append(requests[step.amount % len(requests)].Test(status))
        elif step.what == "iprobe":
            seen.append((comm.Iprobe(step.peer, step.tag, status), status.Get_source(), status.Get_tag()))
        elif step.what == "improbe":
            message = comm.Improbe(step.peer, step.tag)
            if message is not None:
                message.Recv(phantom(10), status)
                seen.append((status.Get_source(), status.Get_tag()))
        elif step.what == "waitany" and requests:
            seen.append(MPI.Request.Testany(requests, status))
        seen.append(MPI.Wtime())
    for _ in range(5):
        compute(3)
        seen.append([request.Test() for request in requests])
    return seen


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "cost",
    [
        Hockney(t_s=1, t_w=1, eager_limit=3),
        Hockney(t_s=0, t_w=1, eager_limit=3, ports=2),
        Hockney(t_s=0, t_w=1, eager_limit=3, duplex=False),
        TwoLevel(2, intra=Hockney(0, 1), inter=Hockney(2, 1), eager_limit=3),
        TwoLevel(2, intra=Hockney(0, 1), inter=Hockney(2, 1), eager_limit=3, network_gap=1, duplex=False),
        Torus(8, t_s=2, t_hop=1, t_w=1, eager_limit=3),
        LogGP(L=3, o=1, g=2, G=1, eager_limit=3),
    ],
    ids=["Hockney", "two ports", "half duplex", "two levels", "two levels, half duplex", "ring of links", "LogGP"],
)
@given(steps=STEPS, seed=st.one_of(st.none(), st.integers(0, 5)))
def test_any_graph_of_messages_gives_the_same_run_everywhere(cost: CostModel, steps: list[Step], seed: int | None) -> None:
    """Random sends, receives, tests and probes, with many ties."""
    check_agreement(graph, RANKS, steps, cost=cost, seed=seed)
