"""Larger sweeps over schedules than the tests do. The last line is "N schedules, D differences".

python -m tests.collectives.schedules mutants 1000    compares verdicts on random changes of schedules with executions
python -m tests.collectives.schedules units 2000      compares times on several cpus and nics with those of an event loop
python -m tests.collectives.schedules rules 500       compares times on LogGP models with those of loggopsim_rules.py
python -m tests.collectives.schedules catalogue       all algorithms on 2 to 17 ranks: verified, written, read and executed
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from collectives import Algorithm, Case
from collectives.schedules import Schedule
from tests.collectives.schedules import test_between_groups as between
from tests.collectives.schedules import test_recorded as within
from tests.collectives.schedules.samples import ALGORITHMS, cases
from tests.collectives.schedules.test_loggopsim import same_as_the_loop
from tests.collectives.schedules.test_mutants import check
from tests.collectives.schedules.test_units import same_times

Checks = Iterator[tuple[str, Callable[[], object]]]

RANKS = range(2, 18)


def mutants(number: int) -> Checks:
    """One mutant for each seed."""
    for seed in range(number):
        yield f"the mutant of seed {seed}", partial(check, 1, seed, runs=10)


def units(number: int) -> Checks:
    """One random schedule for each seed."""
    for seed in range(number):
        yield f"the schedule of seed {seed}", partial(same_times, seed)


def rules(number: int) -> Checks:
    """One random schedule for each seed, with all parameter sets."""
    for seed in range(number):
        yield f"the schedule of seed {seed} on LogGP models", partial(same_as_the_loop, seed)


def catalogue(number: int) -> Checks:
    """Up to `number` cases of each algorithm on each number of ranks; of two groups, one has a third of them."""
    for p in RANKS:
        for algorithm in ALGORITHMS:
            for case in cases(algorithm, p, number):
                yield f"{algorithm.operation} {algorithm.name}, {case}", partial(of_a_group, algorithm, case)
        for algorithm, case, schedule in between.recorded(max(1, p // 3), p - max(1, p // 3), number):
            yield f"{algorithm.operation} {algorithm.name}, {case}", partial(of_two_groups, algorithm, case, schedule)


def of_a_group(algorithm: Algorithm, case: Case) -> None:
    within.same_run(algorithm, case, within.verified(algorithm, case))


def of_two_groups(algorithm: Algorithm, case: Case, schedule: Schedule) -> None:
    between.verified(schedule)
    between.same_run(algorithm, case, schedule)


def main(what: str, number: int = 2) -> int:
    """Print each check that fails; the exit code is 1 if one did."""
    count = differences = 0
    for name, verify in {"mutants": mutants, "catalogue": catalogue, "units": units, "rules": rules}[what](number):
        count += 1
        try:
            verify()
        except Exception as error:
            differences += 1
            sys.stdout.write(f"{name}: {type(error).__name__}: {str(error)[:300]}\n")
    sys.stdout.write(f"{count} schedules, {differences} differences\n")
    return min(1, differences)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
