"""The statements about tokens on the page about all schedules are correct."""

import re
from pathlib import Path
from typing import Any

import fakempi

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "all_schedules.md").read_text(encoding="utf-8")


def test_the_example_prints_the_output_on_the_page() -> None:
    """The first block of code, the token, and the numbers of schedules in the exercises."""
    code = re.findall(r'```python title="collect.py"\n(.*?)```', PAGE, re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(code, "collect.py", "exec"), names)
    found = fakempi.explore(names["collect"], 4)
    assert (found.failures[0].schedule, found.exhausted) == ("z:2", True)
    assert found.failures[0].why.endswith(" took rank 3's message; with rank 1's message the run succeeds")
    for token, fails in (("z:0", False), ("z:1", False), ("z:2", True)):
        try:
            fakempi.run(names["collect"], 4, schedule=token)
            assert not fails
        except fakempi.DeadlockError:
            assert fails
