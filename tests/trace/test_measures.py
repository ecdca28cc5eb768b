"""What is read off a run's transfers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import collectives
import fakempi
from fakempi import MPI, Hockney


@given(p=st.integers(1, 20), name=st.sampled_from(["ring", "bruck"]))
def test_rounds_are_those_that_the_algorithm_claims(p: int, name: str) -> None:
    """One count of rounds from the transfers, one from the claim."""
    algorithm = collectives.find("allgather", name)

    def main(comm: Any) -> None:
        algorithm.run(comm, fakempi.phantom(8), fakempi.phantom(8 * p))

    run = fakempi.run(main, p, cost=Hockney(1.0, 1.0, eager_limit=0), trace=True)
    assert run.rounds == algorithm.rounds(collectives.Case(p=p, m=8))


def test_transfers_that_do_not_wait_for_each_other_are_one_round() -> None:
    """Two pairs that exchange at the same time."""

    def main(comm: Any) -> None:
        other = comm.rank ^ 1
        comm.Sendrecv(fakempi.phantom(9), other, 0, fakempi.phantom(9), other, 0)

    assert fakempi.run(main, 4, trace=True).rounds == 1


def test_who_sent_and_received_how_much_is_known_by_rank() -> None:
    """Messages and bytes, without a trace."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(fakempi.phantom(10), 1)
            comm.Send(fakempi.phantom(5), 2)
        else:
            comm.Recv(fakempi.phantom(10), 0)

    run = fakempi.run(main, 3)
    assert run.sent == [(2, 15), (0, 0), (0, 0)]
    assert run.received == [(0, 0), (1, 10), (1, 5)]
    assert (run.messages, run.bytes) == (2, 15)


def test_rounds_need_a_trace() -> None:
    """Nothing is counted that nobody asked for."""
    with pytest.raises(MPI.Exception, match=r"^rounds are counted from the trace: run\(\.\.\., trace=True\)\.$"):
        fakempi.run(lambda comm: None, 1).rounds  # noqa: B018
