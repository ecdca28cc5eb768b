"""`python -m tests.fuzz 2000`: so many random programs, more than the tests have time for."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.fuzz.programs import differences, outcome, programs
from tests.fuzz.test_threads import CARRIERS

seen: Counter[str] = Counter()


@given(programs)
def one(program: Any) -> None:
    """Look at one program."""
    assert list(differences(program, CARRIERS)) == []
    found = outcome(program, CARRIERS[0])
    seen[found[0] if isinstance(found[0], str) else "all went well"] += 1


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)(one)()
    kinds = ", ".join(f"{name}: {number}" for name, number in seen.most_common())
    sys.stdout.write(f"{sum(seen.values())} programs on {' and '.join(CARRIERS)}: 0 hangs, 0 differences.\n{kinds}\n")
