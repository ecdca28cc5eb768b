"""The arrows between the rooms, as ARCHITECTURE.md draws them: its table is read here and held against every import.

An import counts wherever it stands: at the top, under TYPE_CHECKING, in a function; and, in a file that calls
`import_module`, as a string.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("fakempi", "collectives")


def name_of(path: Path) -> str:
    """fakempi/wire/ports.py is fakempi.wire.ports."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The first name below fakempi; its front door is called __init__, and collectives is one room."""
    package, _, rest = module.partition(".")
    return package if package == "collectives" else rest.split(".")[0] or "__init__"


EXERCISES = ROOT / "fakempi" / "learn" / "exercises"
"""Programs of students are no modules of ours."""

MODULES = {
    name_of(path): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.is_relative_to(EXERCISES)
}
ROOMS = sorted({room_of(module) for module in MODULES} | {"collectives"})


def imports(module: str, tree: ast.Module) -> Iterator[str]:
    """Everything that a module imports, as full names; of ours the module, not what is taken from it."""
    by_name = any(isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func) for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} line {node.lineno}: a relative import, which a grep would not find"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module
        elif by_name and isinstance(node, ast.Constant) and node.value in MODULES:
            yield node.value


@cache
def imported(module: str) -> frozenset[str]:
    """What a module of ours imports."""
    return frozenset(imports(module, ast.parse(MODULES[module].read_text(encoding="utf-8"))))


def is_ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


def drawn(part: str) -> str:
    """A part of ARCHITECTURE.md, between its marks."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split(f"<!-- {part} -->")[1].split(f"<!-- end of {part} -->")[0].strip()


@cache
def table() -> dict[str, tuple[set[str], set[str]]]:
    """ARCHITECTURE.md's table of arrows: room -> (rooms it imports, packages from outside that it imports)."""
    rows = drawn("arrows").splitlines()[2:]
    cells = [[set(re.findall(r"`(\w+)`", cell)) for cell in row.strip("|").split("|")] for row in rows]
    return {room: (inside, outside) for (room,), inside, outside in ((row[0], row[2], row[3]) for row in cells)}


def arrows(room: str) -> tuple[set[str], set[str]]:
    """The same for a room as the code has it."""
    names = {name for module in MODULES if room_of(module) == room for name in imported(module)}
    inside = {room_of(name) for name in names if is_ours(name)} - {room}
    outside = {name.split(".")[0] for name in names if not is_ours(name)}
    return inside, outside - sys.stdlib_module_names


def test_every_room_is_in_the_table() -> None:
    """And every row of the table is a room."""
    assert sorted(table()) == ROOMS


@pytest.mark.parametrize("room", sorted({room_of(module) for module in MODULES}))
def test_a_room_imports_what_the_table_says(room: str) -> None:
    """No more, and no less: the table says what is, not what could be."""
    assert arrows(room) == table()[room]


def test_no_circles_between_rooms() -> None:
    """The table alone shows it."""
    TopologicalSorter({room: inside for room, (inside, _) in table().items()}).prepare()


def test_no_circles_between_modules() -> None:
    """Not even one that only the type checker sees."""
    graph = {module: {name for name in imported(module) if is_ours(name)} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle of imports: " + " imports ".join(reversed(error.args[1])))


def sub_room_of(module: str, parent: str) -> str:
    """The first name below a parent room: of fakempi.mpi.point.handle below fakempi.mpi, point."""
    return module.removeprefix(parent).removeprefix(".").split(".")[0] or "__init__"


def sub_rooms(parent: str) -> dict[str, set[str]]:
    """The rooms within a room, and what each imports of the others, as the code has it."""
    inside = [module for module in MODULES if f"{module}.".startswith(f"{parent}.")]
    found: dict[str, set[str]] = {sub_room_of(module, parent): set() for module in inside}
    for module in inside:
        room = sub_room_of(module, parent)
        found[room] |= {sub_room_of(name, parent) for name in imported(module) if name in inside} - {room}
    return found


@pytest.mark.parametrize("parent", ["fakempi.mpi", "collectives"])
def test_rooms_within_a_room_import_what_their_table_says(parent: str) -> None:
    """And their arrows go one way."""
    rows = drawn(f"rooms of {parent.split('.')[-1]}").splitlines()[2:]
    cells = [[re.findall(r"`(\w+)`", cell) for cell in row.strip("|").split("|")] for row in rows]
    told = {row[0][0]: set(row[2]) for row in cells}
    found = sub_rooms(parent)
    if "__init__" not in told:
        assert not found.pop("__init__")
    assert found == told
    TopologicalSorter(told).prepare()


def test_no_room_is_a_hall() -> None:
    """More than 25 files in one folder are more than one sees at a glance."""
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES.values())
    assert {folder: files for folder, files in folders.items() if files > 25} == {}


def test_the_wire_and_the_kernel_do_not_know_each_other() -> None:
    """The one arrow that the whole design rests on."""
    assert "wire" not in table()["kernel"][0]
    assert "kernel" not in table()["wire"][0]


def test_the_reader_of_imports_sees_them_all() -> None:
    """Lest the tests above hold because nothing is looked at."""
    text = """
import os.path
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from fakempi.wire import ports
def late():
    from fakempi.kernel.loop import Loop
    return import_module("fakempi.world")
"""
    found = set(imports("example", ast.parse(text)))
    assert found == {"os.path", "typing", "fakempi.wire.ports", "fakempi.kernel.loop", "fakempi.world"}


def names_in_code() -> set[str]:
    """Every class, function and method, with its class in front and without, and every file."""
    names = {path.relative_to(ROOT / "fakempi").as_posix() for path in (ROOT / "fakempi").rglob("*.py")}
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


def test_architecture_names_what_is_there() -> None:
    """Files and methods anywhere on the page, and all names on a message's way."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    told = set(re.findall(r"\b(?:checks|kernel|mpi|script|trace|wire)/[\w/]+\.py\b|\b[A-Z]\w+\.[a-z_]\w+\b", page))
    told |= set(re.findall(r"`([\w.]+)`", drawn("names"))) - {"world"}  # which is a file
    assert told - names_in_code() - {"ARCHITECTURE.md", "README.md"} == set()


def test_the_carriers_protocol_is_the_one_in_the_kernel() -> None:
    """Each method with its parameters."""
    tree = ast.parse(MODULES["fakempi.kernel.loop"].read_text(encoding="utf-8"))
    (protocol,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Carrier")
    methods = [node for node in protocol.body if isinstance(node, ast.FunctionDef)]
    signatures = [f"{one.name}({', '.join(argument.arg for argument in one.args.args[1:])})" for one in methods]
    assert re.findall(r"^\| `(.*?)`", drawn("carrier"), re.MULTILINE) == signatures
