"""Compare a build of LogGOPSim with `fakempi schedule run`: examples, collective operations, and random schedules.

    python -m tests.collectives.schedules.loggopsim PATH 300 --build TEXT --files a.goal b.goal

PATH is LogGOPSim's program; it reads binary files that the tests write. The result of a run is in loggopsim.out. There and
in docs/schedules.md, times are in nanoseconds.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from collectives import Case, find
from collectives.schedules import Schedule, goal, record
from fakempi import LogGP
from fakempi.apps.cli.schedules.timeline import simulate
from tests.collectives.schedules.loggopsim_rules import RULES, Ladder, Parameters
from tests.collectives.schedules.samples import ALGORITHMS, cases
from tests.collectives.schedules.test_goal_binary import written
from tests.collectives.schedules.units_oracle import random_units

Simulator = Callable[[Schedule, Parameters], list[int]]

DEFAULTS = Parameters(L=2500, o=1500, g=1000, G=6, S=65535)

COLUMNS = (
    Parameters(L=1000, o=0, g=0, G=1),
    DEFAULTS,
    DEFAULTS._replace(S=1000),
    Parameters(L=2000, o=700, g=3000, G=1, O=2, S=100_000),
)

FAMILIES = {True: "the messages of a nic have one receiver", False: "messages compete for the receiver's nic"}

EXAMPLES = {
    "ends": "rank 0 { a: calc 500 b: calc 300 cpu 1 requires a }",
    "order": "rank 0 { calc 1000 send 1b to 1 } rank 1 { recv 1b from 0 }",
    "processor": "rank 0 { send 1b to 1 calc 1000 } rank 1 { recv 1b from 0 }",
    "processor: cpu": "rank 0 { send 1b to 1 cpu 0 } rank 1 { calc 90000 cpu 0 recv 1b from 0 cpu 1 }",
    "sent": "rank 0 { send 1001b to 1 } rank 1 { recv 1001b from 0 }",
    "gap": "rank 0 { send 1001b to 1 send 1001b to 2 } rank 1 { recv 1001b from 0 } rank 2 { recv 1001b from 0 }",
    "rendezvous": "rank 0 { send 70001b to 1 } rank 1 { a: calc 90000 recv 70001b from 0 requires a }",
    "posting": "rank 0 { send 50001b to 1 tag 1 s: send 1b to 1 tag 2 calc 400000 irequires s } "
    "rank 1 { recv 50001b from 0 tag 1 recv 1b from 0 tag 2 }",
    "nic": "rank 0 { send 1001b to 1 tag 1 send 1001b to 1 tag 2 cpu 1 nic 1 } "
    "rank 1 { recv 1001b from 0 tag 1 recv 1001b from 0 tag 2 cpu 1 }",
    "empty": "rank 0 { send 0b to 1 } rank 1 { recv 0b from 0 }",
}
"""One schedule for each difference. All have the default parameters."""

COLLECTIVES = (
    ("bcast", "binomial", 1024), ("scatter", "binomial", 1024), ("allreduce", "recursive_doubling", 1024),
    ("allgather", "ring", 1024), ("alltoall", "pairwise", 1024), ("bcast", "binomial", 100_000),
    ("barrier", "dissemination", 0), ("bcast", "linear", 1024), ("bcast", "chain", 16_384), ("alltoall", "linear", 1),
)  # fmt: skip


def example(name: str) -> Schedule:
    """The schedule of an example."""
    text = EXAMPLES[name]
    return goal.read(f"num_ranks {text.count('rank ')} {text}")


def ours(schedule: Schedule, parameters: Parameters) -> list[int]:
    """The time at which each rank ends here."""
    L, o, g, G, _, S = parameters
    done = simulate(schedule, LogGP(L=L * 1e-9, o=o * 1e-9, g=g * 1e-9, G=G * 1e-9, eager_limit=S)).done
    assert done is not None
    return [round(clock * 1e9) for clock in done.clocks]


def theirs(program: Path, schedule: Schedule, parameters: Parameters) -> list[int]:
    """The time at which each rank ends in LogGOPSim."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "schedule.bin"
        path.write_bytes(written(schedule))
        options = [word for name, value in parameters._asdict().items() for word in (f"-{name}", str(value))]
        result = subprocess.run([program, "-f", path, *options], capture_output=True, text=True, timeout=60, check=True)
    return [int(time) for time in re.findall(r"^Host \d+: (\d+)$", result.stdout, re.MULTILINE)]


def compared(name: str, schedule: Schedule, simulator: Simulator, parameters: Parameters = DEFAULTS) -> str:
    """A line with the time of the last rank in both."""
    one, other = simulator(schedule, parameters), ours(schedule, parameters)
    equal = "all ranks" if one == other else "last rank" if max(one) == max(other) else ""
    return f"{name:<34} {max(one):>11,} {max(other):>11,}   {equal}".rstrip()


def catalogue() -> Iterator[Schedule]:
    """Up to three schedules on 16 ranks of each algorithm within a group, with different sizes and roots."""
    for algorithm in ALGORITHMS:
        for case in cases(algorithm, 16, 3):
            if any((schedule := record(algorithm, case)).steps):
                yield schedule


def ladder(schedules: Sequence[Schedule], simulator: Simulator) -> Iterator[str]:
    """For each rule the number of schedules that have our times if LogGOPSim's rules are changed up to this one."""
    columns: list[list[int]] = []
    for parameters in COLUMNS:
        real, here = ([times(one, parameters) for one in schedules] for times in (simulator, ours))
        columns.append([sum(one == other for one, other in zip(real, here, strict=True))])
        loops = [[Ladder(one, parameters, RULES[:count]).ends for one in schedules] for count in range(len(RULES) + 1)]
        columns[-1].append(sum(one == other for one, other in zip(real, loops[0], strict=True)))
        columns[-1] += [sum(one == other for one, other in zip(loop, here, strict=True)) for loop in loops]
    names = "LogGOPSim = fakempi", "LogGOPSim = loop, no rule changed", "loop = fakempi, no rule changed"
    for name, *counts in zip((*names, *(f"  and {rule}" for rule in RULES)), *columns, strict=True):
        yield f"{name:<34}" + "".join(f"{count:>9}" for count in counts)


def report(simulator: Simulator, number: int, files: Sequence[Path]) -> Iterator[str]:
    """The lines of loggopsim.out, without its head."""
    yield "times of the ranks of the examples, in ns"
    for name in EXAMPLES:
        one, other = simulator(example(name), DEFAULTS), ours(example(name), DEFAULTS)
        yield f"{name:<16} LogGOPSim {', '.join(f'{t:,}' for t in one):<22} fakempi {', '.join(f'{t:,}' for t in other)}"
    yield f"\n{'time of the last rank, in ns':<34} {'LogGOPSim':>11} {'fakempi':>11}   equal"
    for path in files:
        yield compared(path.name, goal.read(path.read_text()), simulator)
    for operation, name, nbytes in COLLECTIVES:
        case = Case(p=16, m=nbytes, parameters={"segment_bytes": 1024} if name == "chain" else {})
        yield compared(f"{operation} {name} {nbytes}", record(find(operation, name), case), simulator)
    lines = [compared("", schedule, simulator) for schedule in catalogue()]
    all_ranks, last = (sum(line.endswith(words) for line in lines) for words in ("all ranks", ("all ranks", "last rank")))
    equal = f"equal times of all ranks {all_ranks}, of the last rank {last}"
    yield f"{len(lines)} schedules of the catalogue on 16 ranks: {equal}"
    yield "\nhow many random schedules have equal times of all ranks"
    for letter in Parameters._fields:
        values = (getattr(column, letter) for column in COLUMNS)
        yield f"{letter:<34}" + "".join(f"{'none' if value == 1 << 30 else value:>9}" for value in values)
    for partners, text in FAMILIES.items():
        yield f"{number} schedules, {text}"
        yield from ladder([random_units(seed, partners) for seed in range(number)], simulator)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, metavar="PATH", help="LogGOPSim's program")
    parser.add_argument("number", type=int, help="of random schedules")
    parser.add_argument("--build", default="", help="text that is printed first: what was built, and when")
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="GOAL files for 16 ranks at most")
    given = parser.parse_args()
    if given.build:
        print(given.build + "\n")  # noqa: T201 - this is a program
    for line in report(partial(theirs, given.program), given.number, given.files):
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
