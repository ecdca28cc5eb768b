"""The page on all schedules, and the README: what they show is so."""

import re
from pathlib import Path
from typing import Any

import fakempi

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "all_schedules.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
OUT = (ROOT / "demos" / "18_all_schedules.out").read_text(encoding="utf-8")


def test_the_reports_are_the_demos() -> None:
    """On the page and in the README."""
    report = OUT.split("\n\n")[2]
    assert report.startswith("deadlock at ")
    assert f"```text\n{report}\n```" in PAGE
    assert f"```text\n{report}\n```" in README


def test_the_example_does_what_the_page_says() -> None:
    """The first block of code, the token, and the numbers of schedules in the exercises."""
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0].replace("print(found)", "")
    names: dict[str, Any] = {}
    exec(compile(code, "all_schedules.md", "exec"), names)
    found = names["found"]
    assert (found.failures[0].decisions, found.exhausted) == ("z:2", True)
    assert found.failures[0].why.endswith(" took rank 3's message; with rank 1's all went well")
    for token, fails in (("z:0", False), ("z:1", False), ("z:2", True)):
        try:
            fakempi.run(names["collect"], 4, decisions=token)
            assert not fails
        except fakempi.DeadlockError:
            assert fails
