"""Sends that only buffering lets go on are told, and none that would end without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

COSTS = [fakempi.Hockney(), fakempi.Free(), fakempi.LogGP(1e-6, 1e-6, 1e-6, 1e-9)]


def head_to_head(comm: MPI.Comm) -> None:
    """Both send, and then receive."""
    comm.Send(np.zeros(1), comm.Get_rank() ^ 1)
    comm.Recv(np.zeros(1), comm.Get_rank() ^ 1)


def ring(comm: MPI.Comm) -> None:
    """Everybody sends to the right, and then receives."""
    comm.send(0, (comm.Get_rank() + 1) % comm.Get_size())
    comm.recv(source=(comm.Get_rank() - 1) % comm.Get_size())


def to_itself(comm: MPI.Comm) -> None:
    """A message to oneself."""
    comm.send(0, comm.Get_rank())
    comm.recv()


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@pytest.mark.parametrize("cost", COSTS, ids=repr)
@pytest.mark.parametrize("size", [2, 4, 6])
@pytest.mark.parametrize("main", [head_to_head, ring, to_itself])
def test_a_circle_of_sends_is_told_with_its_line(main: Any, size: int, cost: Any, carrier: str) -> None:
    """All ranks on it share a finding."""
    (finding,) = fakempi.run(main, size, cost=cost, carrier=carrier).findings
    assert (finding.kind, finding.ranks, finding.note) == ("unsafe-send", tuple(range(size)), False)
    assert finding.place == f"test_unsafe_sends.py:{main.__code__.co_firstlineno + 2}"
    assert "would wait for ever where nothing is buffered" in finding.sentence


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
    """All but the last send to the right, and then all but the first receive: the last one begins."""
    if comm.Get_rank() < comm.Get_size() - 1:
        comm.send(0, comm.Get_rank() + 1)
    if comm.Get_rank():
        comm.recv(source=comm.Get_rank() - 1)


@pytest.mark.parametrize("cost", COSTS, ids=repr)
@pytest.mark.parametrize("main", [posts_first, takes_turns, chain])
def test_what_ends_without_buffering_is_not_told(main: Any, cost: Any) -> None:
    """Neither exchanges whose receives come first, nor chains."""
    assert fakempi.run(main, 4, cost=cost).findings == []
    fakempi.run(main, 4, cost=fakempi.Hockney(eager_limit=0))


@given(st.integers(1, 4), st.data())
def test_a_told_program_does_not_end_without_buffering(size: int, data: st.DataObject) -> None:
    """Over random programs of sends and receives, blocking or not."""
    ranks = st.integers(0, size - 1)
    messages = data.draw(st.lists(st.tuples(ranks, ranks), max_size=8))
    steps: list[list[tuple[str, int, int]]] = [[] for _ in range(size)]
    for tag, (source, dest) in enumerate(messages):
        at = data.draw(st.integers(0, len(steps[source])))
        steps[source].insert(at, ("send", dest, tag))
        at = data.draw(st.integers(0, len(steps[dest])))
        steps[dest].insert(at, (data.draw(st.sampled_from(["recv", "irecv"])), source, tag))

    def main(comm: MPI.Comm) -> None:
        requests = []
        for step, peer, tag in steps[comm.Get_rank()]:
            if step == "send":
                comm.send(tag, peer, tag)
            elif step == "recv":
                comm.recv(source=peer, tag=tag)
            else:
                requests.append(comm.irecv(source=peer, tag=tag))
        MPI.Request.waitall(requests)

    try:
        told = fakempi.run(main, size, cost=data.draw(st.sampled_from(COSTS))).findings
    except fakempi.DeadlockError:
        return
    if told:
        with pytest.raises(fakempi.DeadlockError):
            fakempi.run(main, size, cost=fakempi.Hockney(eager_limit=0))
