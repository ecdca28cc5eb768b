"""Which packages lead to mpi4py: found in their sources, without executing anything.

A package (or a module that is in none) leads there if one of its files imports mpi4py, in a function too, or imports a
package that leads there, when it is imported itself. It is looked at as a whole: where one module asks for its rank, others
keep what depends on it. That takes 10 milliseconds a megabyte of sources, a fifth of what it takes to import them, once.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from typing import NamedTuple

NAMES_OF_PYTHON = sys.stdlib_module_names
SHARED = frozenset({"fakempi", "mpi4py", "numpy", "rich", "greenlet", "pytest", "_pytest", "pluggy"})
"""Packages that are shared because the emulator stands on them, or stands beside them."""

LARGE = frozenset({"h5py", "jax", "netCDF4", "tensorflow", "torch"})
"""Packages that are shared unless asked otherwise: each rank would take seconds to import them, they are mostly compiled,
and their few lines about mpi4py serve those who build them for it, or launch with it."""

OWN = frozenset({"coverage", "pytest_cov"})
"""Packages that take it that a process has one of them: ranks that each start it would find another's."""

_WORD = re.compile(rb"import[ \t]")  # 40 times as fast as to look for whole lines
_IMPORT = re.compile(rb"([ \t]*)(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t]+\(?([\w ,\t]*)|import[ \t]+([\w., \t]+))")
_TEST = re.compile(r"(test_.*|.*_test|conftest)\.py|tests?")


class Found(NamedTuple):
    """What the files of a package say: whether they import mpi4py, and what else is imported with them."""

    direct: bool
    imports: frozenset[str]


class Unit(NamedTuple):
    """A package or module that is private or shared as a whole: not in another, or in one without files of its own."""

    name: str
    location: str


def unit_of(name: str, find: Callable[[str, Sequence[str] | None], ModuleSpec | None]) -> Unit | None:
    """What a module belongs to; `find` is asked for the packages that it is in, the outermost first, with where to look."""
    start, path = "", None
    for part in name.split("."):
        start = f"{start}.{part}" if start else part
        spec = find(start, path)
        if spec is None:
            return None
        if spec.has_location and spec.origin:
            package = spec.submodule_search_locations is not None
            return Unit(start, os.path.dirname(spec.origin) if package else spec.origin)
        path = list(spec.submodule_search_locations or ())
    return None


def leads_to_mpi4py(
    unit: Unit, resolve: Callable[[str], Unit | None], private: Callable[[Unit], bool | None], verdicts: dict[Unit, bool]
) -> bool:
    """Whether a package leads to mpi4py, entered with all that it imports among the verdicts.

    `resolve` gives what a name belongs to, None for what is Python's own; `private` says what is known without looking.
    """
    if unit in verdicts:
        return verdicts[unit]
    importers: dict[Unit, set[Unit]] = {unit: set()}
    ends, left = [], [unit]
    while left:
        one = left.pop()
        known = verdicts[one] if one in verdicts else private(one)
        if known is None:
            found = look(one.location)
            known = found.direct
            for name in () if known else found.imports:
                other = resolve(name)
                if other is not None and other != one:
                    if other not in importers:
                        importers[other] = set()
                        left.append(other)
                    importers[other].add(one)
        if known:
            ends.append(one)
    verdicts.update((one, False) for one in importers if one not in verdicts)
    while ends:
        one = ends.pop()
        verdicts[one] = True
        ends += (importer for importer in importers[one] if not verdicts[importer])
    return verdicts[unit]


@cache
def look(location: str) -> Found:
    """Read a package's files, or a module's one."""
    imports: set[str] = set()
    for path, is_test in _files(location):
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            continue
        if b"mpi4py" in text and _imports_mpi4py(text):
            return Found(True, frozenset())
        if not is_test:
            imports |= _imported(text)
    return Found(False, frozenset(imports))


def _files(location: str) -> Iterator[tuple[str, bool]]:
    """The sources, and whether they are tests, whose imports are not the package's."""
    if os.path.isfile(location):
        if location.endswith(".py"):
            yield location, False
        return
    for folder, folders, files in os.walk(location):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        is_test = any(_TEST.fullmatch(part) for part in os.path.relpath(folder, location).split(os.sep))
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(folder, name), is_test or _TEST.fullmatch(name) is not None


def _imports_mpi4py(text: bytes) -> bool:
    """By a statement, or by a call that is handed the name, such as `import_module("mpi4py.MPI")`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return any(_names_mpi4py(node) for node in _without_typing(tree))


def _without_typing(tree: ast.AST) -> Iterator[ast.AST]:
    """All that is executed: not what is for type checkers alone."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)


def _names_mpi4py(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        names: list[object] = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [node.module] if not node.level else []
    elif isinstance(node, ast.Call):
        names = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    else:
        return False
    return any(isinstance(name, str) and name.partition(".")[0] == "mpi4py" for name in names)


def _imported(text: bytes) -> set[str]:
    """Names of modules that are imported with this one, and not only when a function is called."""
    text = b"\n" + text
    names = set()
    for word in _WORD.finditer(text):
        match = _IMPORT.match(text, text.rfind(b"\n", 0, word.start()) + 1)
        if match is None:
            continue
        indented, source, members, modules = match.groups()
        if indented and _is_late(text, match.start()):
            continue
        if modules is not None:
            names |= {part.split()[0] for part in modules.split(b",") if part.strip()}
        else:
            names |= {source + b"." + part.split()[0] for part in members.split(b",") if part.strip()} or {source}
    return {name.decode() for name in names if name.partition(b".")[0].decode() not in NAMES_OF_PYTHON}


def _is_late(text: bytes, at: int) -> bool:
    """Whether the block that an indented line is in is that of a function or a class, or for type checkers."""
    late = max(text.rfind(opening, 0, at) for opening in (b"\ndef ", b"\nclass ", b"\nasync def "))
    now = max(text.rfind(opening, 0, at) for opening in (b"\ntry:", b"\nif ", b"\nwith ", b"\nfor ", b"\nwhile "))
    return late > now or b"TYPE_CHECKING" in text[now : now + 30]
