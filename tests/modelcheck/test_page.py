"""The statements on the page about all schedules are correct: tokens, and the table of what is explored."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import fakempi
from fakempi.modelcheck.search import records
from fakempi.modelcheck.steering import points, token, windows

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
    for schedule, fails in (("z:0", False), ("z:1", False), ("z:2", True)):
        try:
            fakempi.run(names["collect"], 4, schedule=schedule)
            assert not fails
        except fakempi.DeadlockError:
            assert fails


def rows() -> list[list[str]]:
    """The rows of the table of explored choices: what MPI leaves open, what is explored, and the limit."""
    table = PAGE.split("<!-- explored choices -->")[1].split("<!-- end of explored choices -->")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.strip().splitlines()[2:]]


def limits() -> set[str]:
    """The texts that the code passes to `note_unexplored`, and those of `records`."""
    texts: set[str] = {records.TIMED, records.CLOCK}
    for path in (ROOT / "fakempi").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "note_unexplored" not in source:
            continue
        names = vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)))
        for function in ast.walk(ast.parse(source)):
            if isinstance(function, ast.FunctionDef) and function.name != "note_unexplored":
                texts |= {eval(ast.unparse(text), dict(names)) for text in noted(function)}
    return texts


def noted(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The arguments of calls of `note_unexplored` in a function; a local variable is replaced by its value."""
    nodes = list(ast.walk(function))
    local = {ast.unparse(node.targets[0]): node.value for node in nodes if isinstance(node, ast.Assign)}
    for call in nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "note_unexplored":
            yield local.get(ast.unparse(call.args[0]), call.args[0])


POINTS = {
    points.Receive: "which message a receive,",
    points.Probe: "which message a receive,",
    points.Requests: "which request",
    points.Arrival: "whether `Test`,",
    points.ThreadLock: "which of a rank's threads",
    points.FilePointer: "which rank is first at the shared",
    windows.WindowLock: "which rank gets the lock of a window",
    windows.AtomicOperation: "which of several calls of `Accumulate`,",
}
"""Choice points, and how the row begins that describes them."""


def test_the_table_of_explored_choices_is_that_of_the_code() -> None:
    """Choice points and modes on one side, texts of limits on the other; no row has neither."""
    assert sorted(limit for _, _, limit in rows() if limit) == sorted(limits())
    assert all(limit for _, explored, limit in rows() if explored.startswith("no"))
    explored = [(title, text) for title, text, _ in rows() if not text.startswith("no")]
    kinds = {kind for module in (points, windows) for kind in vars(module).values() if isinstance(kind, type)}
    abstract = {points.Point, points.MailboxPoint, points.CallPoint, windows.WindowPoint}
    assert {kind for kind in kinds if issubclass(kind, points.Point)} - abstract == set(POINTS)
    assert all(any(title.startswith(start) for title, _ in explored) for start in POINTS.values())
    known = (("buffering", token.BUFFERINGS), ("collectives", token.COLLECTIVES), ("data", token.DATA))
    modes = {f"`{name}={values!r}`".replace("'", '"') for name, values in known}
    others = {text.partition(":")[0] for title, text in explored if not title.startswith(tuple(POINTS.values()))}
    assert others == modes
    assert len(modes) == len(token.LibraryMode._fields)
