"""The measurements of the speed table: CPU seconds per message or per rank and call of fakempi, switches, SimPy and SMPI.

    python benchmarks/measures.py TOOL CASE RANKS [EFFORT]      take one measurement in this process
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import in_simpy
import in_smpi
import windows
from bare import greenlet_switch, thread_handoff
from calls import per_call
from ring import per_message, ring, ring_of_objects
from scale import recursive_doubling

import fakempi

MESSAGES = 60_000
THREADS_MESSAGES = 10_000
CALLS, FUSED_CALLS = 5, 100
"""Counts of one measurement with effort 1; at least three rounds, or one call."""


class Measure(NamedTuple):
    """A measurement: the tool, the program, and the number of ranks."""

    tool: str
    case: str
    ranks: int

    def __str__(self) -> str:
        return f"{self.tool}: {self.case}, {self.ranks:,} ranks"


def rounds_of(messages: int, ranks: int, effort: float) -> int:
    """Number of rounds with one message per rank that send about this number of messages."""
    return max(3, int(messages * effort) // ranks)


def sums(comm: Any, rounds: int, clock: Callable[[], float]) -> float:
    """Repeat recursive doubling; return the time of all rounds but the first."""
    recursive_doubling(comm)
    start = clock()
    for _ in range(rounds):
        recursive_doubling(comm)
    return clock() - start


def steps_of(ranks: int) -> int:
    """Messages per rank of recursive doubling."""
    return ranks.bit_length() - 1


def doubling_rounds(ranks: int, effort: float) -> int:
    """Number of repetitions that send about the same number of messages as a ring."""
    return max(1, int(MESSAGES * effort) // (ranks * steps_of(ranks)))


def of_ring(ranks: int, effort: float, program: Any = ring, backend: str = "greenlets", **options: Any) -> float:
    """Seconds per message of a ring in fakempi."""
    rounds = rounds_of(THREADS_MESSAGES if backend == "threads" else MESSAGES, ranks, effort)
    return per_message(ranks, rounds, backend, program, process_time, **options)


def of_puts(ranks: int, effort: float) -> float:
    """Seconds per Put, including its share of a Fence."""
    rounds = rounds_of(MESSAGES, ranks, effort)
    return float(fakempi.run(windows.ring, ranks, rounds, True, backend="greenlets").returns[0]) / (ranks * rounds)


def of_doubling(ranks: int, effort: float) -> float:
    """Seconds per message of recursive doubling."""
    rounds = doubling_rounds(ranks, effort)
    return per_message(ranks, rounds, "greenlets", sums, process_time) / steps_of(ranks)


def of_call(name: str, fused: str) -> Callable[[int, float], float]:
    """Return a function that measures seconds per rank and call, emulated or fused."""
    calls = CALLS if fused == "never" else FUSED_CALLS
    return lambda ranks, effort: per_call(name, ranks, max(1, int(calls * effort)), 1, fused=fused, backend="greenlets")


def of_simpy(ranks: int, rounds: int, program: Any, steps: int) -> float:
    """Seconds per message in SimPy."""
    return in_simpy.simulated(program, ranks, rounds)[0] / (ranks * rounds * steps)


COLLECTIVES = ("Barrier", "Allreduce", "Allgather")

CASES: dict[tuple[str, str], Callable[[int, float], float]] = {
    ("fakempi", "ring"): of_ring,
    ("fakempi", "ring on threads"): lambda ranks, effort: of_ring(ranks, effort, backend="threads"),
    ("fakempi", "ring with a trace"): lambda ranks, effort: of_ring(ranks, effort, trace=True),
    ("fakempi", "ring of objects"): lambda ranks, effort: of_ring(ranks, effort, ring_of_objects),
    ("fakempi", "ring of Put and Fence"): of_puts,
    ("fakempi", "recursive doubling"): of_doubling,
    **{("fakempi", f"{name}, emulated"): of_call(name, "never") for name in COLLECTIVES},
    **{("fakempi", f"{name}, fused"): of_call(name, "auto") for name in COLLECTIVES},
    ("bare", "greenlets"): lambda ranks, effort: greenlet_switch(ranks, int(300_000 * effort), process_time),
    ("bare", "threads"): lambda ranks, effort: thread_handoff(ranks, int(20_000 * effort), process_time),
    ("SimPy", "ring"): lambda ranks, effort: of_simpy(ranks, rounds_of(MESSAGES, ranks, effort), in_simpy.ring, 1),
    ("SimPy", "recursive doubling"): lambda ranks, effort: of_simpy(
        ranks, doubling_rounds(ranks, effort), in_simpy.recursive_doubling, steps_of(ranks)
    ),
}
"""Measurements in a Python process: (tool, case) -> function of ranks and effort that returns seconds."""


def of_smpi(directory: Path, case: str, ranks: int, effort: float) -> float:
    """Seconds per message, or per rank and call, in SMPI."""
    rounds, steps = rounds_of(MESSAGES, ranks, effort), 1
    if case == "recursive doubling":
        rounds, steps = doubling_rounds(ranks, effort), steps_of(ranks)
    elif case in COLLECTIVES:
        rounds = max(1, int(CALLS * effort))
    return in_smpi.simulated(directory, case.replace(" ", "_"), ranks, rounds)[0] / (ranks * rounds * steps)


if __name__ == "__main__":
    tool, case, ranks, *effort = sys.argv[1:]
    print(json.dumps(CASES[tool, case](int(ranks), float(effort[0]) if effort else 1.0)))
