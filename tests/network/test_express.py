"""Messages that wait for their receiver's port on the fast path end at the same times as on the path of `Delivery`."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney
from fakempi.core.network.express import Express

COSTS = (Hockney(), Hockney(t_s=1, t_w=0.125), Hockney(t_s=0, t_w=0.5), Hockney(t_s=1, t_w=0.125, eager_limit=16))


def crowded(comm: Any, seed: int) -> list[Any]:
    """Most ranks send to two of them; some messages are synchronous, and some receives take any source."""
    random, p = Random(seed), comm.size
    plan = [
        [(random.randrange(2), random.choice((0, 1, 2, 8)), random.random() < 0.3) for _ in range(random.randrange(1, 5))]
        for _ in range(p)
    ]
    delays, any_source, log = [random.choice((0, 0, 1, 3)) for _ in range(p)], random.random() < 0.5, list[Any]()
    fakempi.compute(float(delays[comm.rank]))
    requests = []
    for dest, size, is_nonblocking in plan[comm.rank]:
        data = np.full(size, float(comm.rank))
        if dest == comm.rank:
            continue
        if is_nonblocking:
            requests.append(comm.Isend(data, dest))
        else:
            if comm.rank > 1:  # ranks 0 and 1 receive, so they do not wait for receives of each other
                comm.Send(data, dest)
            else:
                requests.append(comm.Isend(data, dest))
        log.append(MPI.Wtime())
    sources = [source for source in range(p) if source != comm.rank for dest, *_ in plan[source] if dest == comm.rank]
    for source in sources if comm.rank < 2 else ():
        into, status = np.zeros(8), MPI.Status()
        comm.Recv(into, MPI.ANY_SOURCE if any_source else source, status=status)
        log.append((MPI.Wtime(), status.source, status.Get_count(MPI.DOUBLE)))
    MPI.Request.Waitall(requests)
    return [*log, MPI.Wtime()]


def outcomes(seed: int) -> tuple[Any, ...]:
    """Everything that can be observed of a run."""
    run = fakempi.run(crowded, 3 + seed % 7, seed, cost=COSTS[seed % 4])
    return run.returns, run.clocks, run.messages, run.bytes, run.sent, run.received


def test_messages_that_wait_for_a_port_end_as_on_the_general_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs in which many ranks send to two have equal outcomes on both paths, and the fast path serves messages."""
    served, serve = [], Express._serve

    def recorded(self: Express, port: Any) -> None:
        served.append(port)
        serve(self, port)

    monkeypatch.setattr(Express, "_serve", recorded)
    fast = [outcomes(seed) for seed in range(40)]
    assert served
    monkeypatch.setattr(Express, "serves", staticmethod(lambda cost: False))
    assert fast == [outcomes(seed) for seed in range(40)]
