"""Rule 7: cost models are small objects that are passed to `run`."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from fakempi import MPI, CostModel, Hockney, LogGP, TwoLevel, ZeroCost, compute, phantom, presets


def exchange(comm: Any, nbytes: int) -> tuple[float, str]:
    """Ranks 0 and 1, 2 and 3 ... exchange."""
    comm.Sendrecv(phantom(nbytes), comm.rank ^ 1, 0, phantom(nbytes), comm.rank ^ 1)
    return MPI.Wtime(), MPI.Get_processor_name()


def one_way(comm: Any, nbytes: int) -> float:
    """One message from 0 to 1."""
    if comm.rank == 0:
        comm.Send(phantom(nbytes), 1)
    else:
        comm.Recv(phantom(nbytes), 0)
    return MPI.Wtime()


def test_the_default_is_hockneys_model(backend: Any) -> None:
    """Its defaults are a start-up time of 1 us and 1 GB/s."""
    assert fakempi.run(one_way, 2, 1000, backend=backend).clocks == [1e-6 + 1000 * 1e-9] * 2


def test_zero_cost_takes_no_time(backend: Any) -> None:
    """Only computing takes time; messages and bytes are counted."""

    def main(comm: Any) -> None:
        compute(comm.rank)
        exchange(comm, 1 << 40)

    run = fakempi.run(main, 2, cost=ZeroCost(), backend=backend)
    assert (run.clocks, run.messages, run.bytes) == ([1, 1], 2, 1 << 41)


def test_zero_cost_has_an_eager_limit(backend: Any) -> None:
    """So tests of program logic find unsafe sends."""

    def main(comm: Any) -> None:
        comm.Send(phantom(1), 1 - comm.rank)
        comm.Recv(phantom(1), 1 - comm.rank)

    fakempi.run(main, 2, cost=ZeroCost(), backend=backend)
    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 2, cost=ZeroCost(eager_limit=0), backend=backend)


def test_two_levels_have_two_costs_and_names(backend: Any) -> None:
    """Neighbors on a node and on two nodes."""
    on_one_node = TwoLevel(2, intra=Hockney(1, 1), inter=Hockney(100, 10))
    on_two = TwoLevel(placement=["left", "right"], intra=Hockney(1, 1), inter=Hockney(100, 10))
    assert fakempi.run(exchange, 2, 5, cost=on_one_node, backend=backend).returns == [(6, "node0")] * 2
    assert fakempi.run(exchange, 2, 5, cost=on_two, backend=backend).returns == [(150, "left"), (150, "right")]


def test_in_loggp_the_sender_is_done_before_the_receiver(backend: Any) -> None:
    """o + (n-1) G for the sender, o + (n-1) G + L + o for the receiver."""
    cost = LogGP(L=100, o=3, g=10, G=2)
    assert fakempi.run(one_way, 2, 6, cost=cost, backend=backend).clocks == [13, 116]


def test_in_loggp_messages_follow_each_other_by_the_gap(backend: Any) -> None:
    """The network is pipelined: five messages arrive g apart, after one latency."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            for _ in range(5):
                comm.Send(phantom(1), 1)
            return MPI.Wtime()
        times = []
        for _ in range(5):
            comm.Recv(phantom(1), 0)
            times.append(MPI.Wtime())
        return times

    run = fakempi.run(main, 2, cost=LogGP(L=100, o=3, g=10, G=2), backend=backend)
    assert run.returns == [43, [106, 116, 126, 136, 146]]


def test_in_loggp_the_overhead_is_the_gap_if_it_is_longer(backend: Any) -> None:
    """A processor that takes 30 to send cannot send every 10."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            for _ in range(3):
                comm.Send(phantom(1), 1)
        else:
            for _ in range(3):
                comm.Recv(phantom(1), 0)

    assert fakempi.run(main, 2, cost=LogGP(L=100, o=30, g=10, G=2), backend=backend).clocks == [90, 220]


class Torus(CostModel):
    """Five seconds per hop on a ring of eight, as in a custom model."""

    eager_limit = 0

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """The cost depends on the distance."""
        hops = min((source - dest) % 8, (dest - source) % 8)
        return 5 * hops, 5 * hops, 5 * hops


def test_a_custom_model_needs_one_method(backend: Any) -> None:
    """Other methods have defaults."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            for dest in range(1, 8):
                comm.Send(b"", dest)
        else:
            comm.Recv(bytearray(0), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 8, cost=Torus(), backend=backend).returns == [80, 5, 15, 30, 50, 65, 75, 80]


def test_a_subclass_of_hockney_can_override_the_transfer(backend: Any) -> None:
    """No fast path skips it."""

    class Congested(Hockney):
        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return 7, 7, 7

    assert fakempi.run(one_way, 2, 5, cost=Congested(0, 1), backend=backend).clocks == [7, 7]


def test_a_model_can_be_used_again(backend: Any) -> None:
    """It holds no state of a run."""
    cost = TwoLevel(1, inter=Hockney(0, 1))
    clocks = [fakempi.run(exchange, 4, 5, cost=cost, backend=backend).clocks for _ in range(2)]
    assert clocks == [[5] * 4] * 2


def test_a_model_can_be_text_as_on_the_command_line(backend: Any) -> None:
    """Parsed by the same function, with the same error messages."""
    assert fakempi.run(one_way, 2, 6, cost="hockney:t_s=1,t_w=2", backend=backend).clocks == [13, 13]
    with pytest.raises(ValueError, match=r"^cost model 'hockny' is unknown\. Did you mean hockney\? Known: hockney, "):
        fakempi.run(one_way, 2, 6, cost="hockny", backend=backend)


@pytest.mark.parametrize("cost", [3, Hockney])
def test_other_types_of_models_are_rejected(cost: Any) -> None:
    """Before the run starts."""
    with pytest.raises(TypeError, match=r"^run: cost must be a cost model such as Hockney\(\.\.\.\), not "):
        fakempi.run(exchange, 2, 1, cost=cost)


def test_a_model_that_was_changed_to_invalid_values_is_rejected() -> None:
    """Its numbers are checked again when a run starts."""
    cost = Hockney()
    cost.t_w = -1
    with pytest.raises(ValueError, match=r"^Hockney: t_w=-1 is negative\.$"):
        fakempi.run(exchange, 2, 1, cost=cost)


@pytest.mark.parametrize("name", sorted(presets.PRESETS))
def test_every_preset_runs(backend: Any, name: str) -> None:
    """Two ranks on a node and two on another."""

    def main(comm: Any) -> float:
        for distance in (1, 2):
            comm.Sendrecv(phantom(10_000), comm.rank ^ distance, 0, phantom(10_000), comm.rank ^ distance)
        return MPI.Wtime()

    run = fakempi.run(main, 4, cost=presets.PRESETS[name](2), backend=backend)
    assert 1e-6 < run.time < 1e-3
