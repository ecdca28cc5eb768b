"""Compare random programs on a real MPI and on the emulator: python -m tests.real_mpi.random FAMILY N [--seed S]."""

from __future__ import annotations

import argparse
import sys

from tests.real_mpi.random.compare import compare_random, shrunk
from tests.real_mpi.random.families import FAMILIES


def main() -> int:
    """Print differences, each with as few operations as possible; the exit code is 1 if there are any, or findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.real_mpi.random", description=__doc__)
    parser.add_argument("family", choices=[*FAMILIES, "all"])
    parser.add_argument("count", type=int, metavar="N", help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first program's seed")
    parser.add_argument("--show", type=int, default=5, metavar="K", help="how many differences to shrink and print")
    requested = parser.parse_args()
    programs = differences = explained = findings = 0
    for family in FAMILIES if requested.family == "all" else [requested.family]:
        result = compare_random(family, requested.count, requested.seed)
        for difference in result.differences[: requested.show]:
            print(shrunk(family, difference))
        for why, times in sorted(result.explained.items()):
            print(f"explained {times} times: {why}")
        for finding, times in result.findings.most_common(5):
            print(f"finding in a correct program, {times} times: {finding}")
        print(
            f"{family}: {result.compared} programs, {len(result.differences)} differ, "
            f"{sum(result.explained.values())} explained differences, {sum(result.findings.values())} findings; "
            f"CPU {result.seconds_real:.1f} s real MPI, {result.seconds_emulated:.1f} s fakempi"
        )
        programs, differences = programs + result.compared, differences + len(result.differences)
        explained, findings = explained + sum(result.explained.values()), findings + sum(result.findings.values())
    print(f"{programs} programs, {differences} differ, {explained} explained differences, {findings} findings")
    return int(bool(differences or findings))


if __name__ == "__main__":
    sys.exit(main())
