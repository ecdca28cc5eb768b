"""Ranks with several cpus and network interfaces: times in closed form, and those of an independent event loop."""

from __future__ import annotations

import pytest

from collectives.schedules import goal
from fakempi import Hockney, LogGP
from fakempi.apps.cli.schedules.timeline import simulate
from fakempi.core.network.cost import CostModel
from tests.collectives.schedules.units_oracle import LATENCY, Simulation, random_units

NO_LATENCY = Hockney(t_s=0, t_w=1e-9, eager_limit=0)


def ends(text: str, cost: CostModel) -> list[int]:
    """When each rank ends, in nanoseconds."""
    done = simulate(goal.read(text), cost).done
    assert done is not None
    return [round(clock * 1e9) for clock in done.clocks]


def same_times(seed: int) -> None:
    """Compare the times of a random schedule with those of the event loop."""
    schedule = random_units(seed)
    done = simulate(schedule, Hockney(t_s=LATENCY * 1e-9, t_w=1e-9, eager_limit=1 << 40)).done
    assert done is not None
    assert [round(clock * 1e9) for clock in done.clocks] == Simulation(schedule).ends, seed


@pytest.mark.parametrize("seed", range(25))
def test_random_schedules(seed: int) -> None:
    same_times(seed)


def test_calculations_on_different_cpus_run_at_the_same_time() -> None:
    text = "num_ranks 1 rank 0 { a: calc 1000 b: calc 700 cpu 1 c: calc 200 cpu 1 d: calc 50 cpu 2 requires b }"
    assert ends(text, NO_LATENCY) == [1000]
    assert ends(text.replace("calc 1000", "calc 10"), NO_LATENCY) == [900]
    assert ends(text.replace("cpu 1", ""), NO_LATENCY) == [1900]


def test_a_cpu_executes_its_operations_in_the_order_in_which_they_become_ready() -> None:
    """The third becomes ready at 300 and the second at 500, while cpu 0 is busy until 1000."""
    text = "num_ranks 1 rank 0 { calc 1000 x: calc 100 requires a y: calc 200 requires b a: calc 500 cpu 1 b: calc 300 cpu 2"
    assert ends(text + " z: calc 1000 cpu 3 requires y }", NO_LATENCY) == [2200]
    assert ends(text + " z: calc 1000 cpu 3 requires x }", NO_LATENCY) == [2300]


RAILS = """num_ranks 2
rank 0 {{ send 1000b to 1 tag 1 nic 0  send 1000b to 1 tag 2 nic {0} }}
rank 1 {{ recv 1000b from 0 tag 1 nic 0  recv 1000b from 0 tag 2 nic {1} }}"""


@pytest.mark.parametrize(("nics", "time"), [((1, 1), 1000), ((0, 0), 2000), ((1, 0), 2000), ((0, 1), 2000)])
def test_each_nic_carries_one_message_at_a_time(nics: tuple[int, int], time: int) -> None:
    """A message leaves through the nic of its send and arrives through the nic of its receive."""
    assert ends(RAILS.format(*nics), NO_LATENCY)[1] == time


@pytest.mark.parametrize("options", [{"duplex": False}, {"ports": 2}, {}])
def test_each_nic_has_the_ports_of_the_cost_model(options: dict[str, int]) -> None:
    """Both ranks send a message through each of two nics, which serve both directions in turn if they are half duplex."""
    both = "num_ranks 2 " + " ".join(
        f"rank {r} {{ send 1000b to {1 - r} tag 1 send 1000b to {1 - r} tag 2 nic 1 recv 1000b from {1 - r} tag 1 "
        f"recv 1000b from {1 - r} tag 2 nic 1 }}"
        for r in range(2)
    )
    expected = 2000 if options.get("duplex") is False else 1000
    assert ends(both, Hockney(t_s=0, t_w=1e-9, eager_limit=0, **options)) == [expected] * 2  # type: ignore[arg-type]


def test_gaps_are_those_of_a_nic() -> None:
    """LogGP: o + L + o = 12, and the second message of a nic starts g = 5 later."""
    cost = LogGP(L=10e-9, o=1e-9, g=5e-9, G=0)
    assert ends(RAILS.format(1, 1), cost)[1] == 12
    assert ends(RAILS.format(0, 0), cost)[1] == 17


def test_the_trace_has_all_messages_and_the_time_in_which_a_cpu_computes() -> None:
    schedule = goal.read(
        "num_ranks 2 rank 0 { calc 1000 calc 600 cpu 1 send 10b to 1 nic 3 cpu 2 } "
        "rank 1 { calc 5 cpu 2 recv 10b from 0 nic 1 }"
    )
    simulation = simulate(schedule, NO_LATENCY)
    assert simulation.done is not None
    assert (simulation.done.messages, simulation.done.bytes) == (1, 10)
    rows = [(row.rank, round(row.start * 1e9), round(row.end * 1e9)) for row in simulation.trace.computes]
    assert sorted(rows) == [(0, 0, 1000), (1, 0, 5)]
