"""Dependencies between packages: the tables of ARCHITECTURE.md are compared with every import in the code.

An import counts wherever it is: at the top, under TYPE_CHECKING, in a function, and as a string in a file that
calls `import_module`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.source import FILES, ROOT, nodes, tree

PACKAGES = ("fakempi", "collectives")
DIVIDED = ("core", "extensions", "modelcheck", "apps")
"""Packages whose parts are rows of the table."""


def module_name(path: Path) -> str:
    """fakempi/core/network/ports.py is fakempi.core.network.ports."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def package_of(module: str) -> str:
    """The row of the table that a module belongs to, such as core.network; collectives is one row."""
    top, *rest = module.split(".")
    if top == "collectives":
        return top
    return ".".join(rest[: 2 if rest[:1] and rest[0] in DIVIDED else 1]) or "__init__"


ROWS = sorted({package_of(module) for module in MODULES})


def imports(module: str, found: Sequence[ast.AST]) -> Iterator[str]:
    """Every module that the nodes of a module import, by its full name."""
    by_name = any(isinstance(node, ast.Call) and "import_module" in last_name(node.func) for node in found)
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} line {node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module
        elif by_name and isinstance(node, ast.Constant) and node.value in MODULES:
            yield node.value


def last_name(function: ast.expr) -> str:
    """Return `name` for a call of `name` or of `something.name`."""
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


@cache
def imported(module: str) -> frozenset[str]:
    """The imports of a module of the project."""
    return frozenset(imports(module, nodes(MODULES[module])))


def is_ours(module: str) -> bool:
    """Whether a module belongs to the project."""
    return module.split(".")[0] in PACKAGES


def section(name: str) -> str:
    """A part of ARCHITECTURE.md, between its marks."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0].strip()


@cache
def table() -> dict[str, tuple[set[str], set[str]]]:
    """The table of dependencies: package -> (packages that it imports, packages from outside)."""
    rows = section("dependencies").splitlines()[2:]
    cells = [[set(re.findall(r"`([\w.]+)`", cell)) for cell in row.strip("|").split("|")] for row in rows]
    return {package: (inside, outside) for (package,), inside, outside in ((row[0], row[2], row[3]) for row in cells)}


def dependencies(package: str) -> tuple[set[str], set[str]]:
    """The same for one package, from the code."""
    names = {
        name
        for module in MODULES
        if package_of(module) == package
        for name in imported(module)
        if (module, name) not in IN_SIGNATURES | BY_NAME
    }
    inside = {package_of(name) for name in names if is_ours(name)} - {package}
    outside = {name.split(".")[0] for name in names if not is_ours(name)}
    return inside, outside - sys.stdlib_module_names - {"tomllib"}  # in the standard library from Python 3.11 on


def test_every_package_is_in_the_table() -> None:
    """Every row of the table is a package, too."""
    assert sorted(table()) == ROWS


def test_packages_import_what_the_table_lists() -> None:
    """No more and no less than that."""
    assert {package: dependencies(package) for package in ROWS} == table()


def test_packages_have_no_import_cycle() -> None:
    """This holds for the table alone: a topological order exists, and contains every package."""
    packages = {package: inside for package, (inside, _) in table().items()}
    assert set(TopologicalSorter(packages).static_order()) == packages.keys()


IN_SIGNATURES = {
    ("fakempi.mpi.comms.comm", "fakempi.mpi.comms.intercomm"),
    ("fakempi.mpi.comms.intercomm", "fakempi.mpi.comms.intracomm"),
    ("fakempi.mpi.comms.resilient", "fakempi.mpi.comms.comm"),
    ("fakempi.mpi.comms.topology_makers", "fakempi.mpi.comms.topocomm"),
    ("fakempi.mpi.datatypes.handle", "fakempi.mpi.datatypes.datatype"),
    ("fakempi.mpi.point.lower_case", "fakempi.mpi.point.request"),
}
"""Imports under TYPE_CHECKING, for signatures: classes of MPI name each other."""

BY_NAME = {("fakempi.trace.renderer", "fakempi.view.loading")}
"""Imports of a default that a lower package needs only if nothing else was registered: a trace is shown by the views."""


def at_run_time(module: str) -> frozenset[str]:
    """The imports of a module except those under TYPE_CHECKING."""
    whole = tree(MODULES[module])
    guarded = [node for node in whole.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return frozenset(imports(module, [part for node in whole.body if node not in guarded for part in ast.walk(node)]))


def test_modules_have_no_import_cycle() -> None:
    """Imports that only the type checker sees count as well, except for the listed classes in signatures."""
    graph = {
        module: {name for name in imported(module) if is_ours(name) and (module, name) not in IN_SIGNATURES | BY_NAME}
        for module in MODULES
    }
    for module, name in IN_SIGNATURES:
        assert module.startswith("fakempi.mpi.")
        assert name in imported(module) - at_run_time(module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " imports ".join(reversed(error.args[1])))


def part_of(module: str, parent: str) -> str:
    """The first name below a package: of fakempi.mpi.point.handle below fakempi.mpi, point."""
    return module.removeprefix(parent).removeprefix(".").split(".")[0] or "__init__"


def parts(parent: str) -> dict[str, set[str]]:
    """The parts of a package and what each imports of the others, from the code."""
    inside = [module for module in MODULES if f"{module}.".startswith(f"{parent}.")]
    found: dict[str, set[str]] = {part_of(module, parent): set() for module in inside}
    for module in inside:
        part = part_of(module, parent)
        found[part] |= {part_of(name, parent) for name in imported(module) if name in inside} - {part}
    return found


@pytest.mark.parametrize("parent", ["fakempi.mpi", "collectives"])
def test_parts_of_a_large_package_import_what_their_table_lists(parent: str) -> None:
    """Their imports have no cycle."""
    rows = section(f"parts of {parent.split('.')[-1]}").splitlines()[2:]
    cells = [[re.findall(r"`(\w+)`", cell) for cell in row.strip("|").split("|")] for row in rows]
    listed = {row[0][0]: set(row[2]) for row in cells}
    assert parts(parent) == listed
    TopologicalSorter(listed).prepare()


def test_fakempi_has_few_entries_at_the_top() -> None:
    """About ten packages, and modules that only export names."""
    entries = {path.name for path in (ROOT / "fakempi").iterdir() if path.suffix in ("", ".py")} - {"__pycache__"}
    assert len(entries) <= 19, sorted(entries)


def test_no_directory_has_more_than_25_modules() -> None:
    """A longer list cannot be read at a glance."""
    directories = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES.values())
    assert {directory: files for directory, files in directories.items() if files > 25} == {}


def test_network_and_kernel_are_independent() -> None:
    """The network receives a clock, the kernel receives functions; `core.world` connects them."""
    assert "core.network" not in table()["core.kernel"][0]
    assert "core.kernel" not in table()["core.network"][0]


def test_only_named_packages_import_collectives() -> None:
    """Below the applications `tuning` does, and two modules that need a name of it."""
    importing = {package for package, (inside, _) in table().items() if "collectives" in inside}
    assert {package for package in importing if not package.startswith("apps.")} == {
        "tuning", "core.options", "core.collectives_package",
    }  # fmt: skip


def test_the_reader_of_imports_sees_them_all() -> None:
    """At the top, under TYPE_CHECKING, in functions, and by name."""
    example = """
import os.path
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from fakempi.core.network import ports
def late():
    from fakempi.core.kernel.loop import Loop
    return import_module("fakempi.core.world")
"""
    found = set(imports("example", list(ast.walk(ast.parse(example)))))
    assert found == {"os.path", "typing", "fakempi.core.network.ports", "fakempi.core.kernel.loop", "fakempi.core.world"}


def names_in_code() -> set[str]:
    """Every class, function and method, with its class in front and without, and every file."""
    names = {path.relative_to(ROOT / "fakempi").as_posix() for path in (ROOT / "fakempi").rglob("*.py")}
    for path in MODULES.values():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names.add(node.name)
            if isinstance(node, ast.ClassDef):
                names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


def test_architecture_names_exist() -> None:
    """Files and methods that ARCHITECTURE.md mentions."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    files = r"(?<![\w/])(?:core|extensions|mpi|isolation|trace|modelcheck|tuning|view|apps)/[\w/]+\.py\b"
    mentioned = set(re.findall(files + r"|\b[A-Z][a-z]\w+\.[a-z_]\w+\b", page))
    mentioned |= {name for name in re.findall(r"`([\w.]+)`", section("names")) if name[0].isupper() or "_" in name}
    assert mentioned - names_in_code() == set()


def test_the_backend_protocol_is_the_one_in_the_kernel() -> None:
    """Each method with its parameters."""
    body = tree(MODULES["fakempi.core.kernel.loop"]).body
    (protocol,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == "Backend")
    methods = [node for node in protocol.body if isinstance(node, ast.FunctionDef)]
    signatures = [f"{one.name}({', '.join(argument.arg for argument in one.args.args[1:])})" for one in methods]
    assert re.findall(r"^\| `(.*?)`", section("backend"), re.MULTILINE) == signatures


def listed_modules(docstring: str) -> set[str]:
    """Names at the start of the lines of a package's docstring: `name    description`."""
    return set(re.findall(r"^([a-z]\w*|MPI)/? {2,}\S", docstring, re.MULTILINE))


def test_docstrings_of_packages_list_their_modules() -> None:
    """A docstring that lists modules lists all of them, and none that does not exist."""
    wrong: dict[str, tuple[set[str], set[str]]] = {}
    for module, path in MODULES.items():
        if path.name != "__init__.py" or module.startswith(("collectives.intra.", "collectives.inter.")):
            continue
        existing = {p.stem if p.suffix else p.name for p in path.parent.iterdir() if p.suffix in ("", ".py")}
        existing = {name for name in existing if not name.startswith("_")}
        listed = listed_modules(ast.get_docstring(tree(path)) or "")
        if listed & existing and (listed - existing or existing - listed):
            wrong[module] = listed - existing, existing - listed
    assert wrong == {}
