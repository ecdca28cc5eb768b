"""File, function and catalogue agree in name; every card is complete; collectives lives on what it is handed."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import collectives
from collectives import CATALOGUE, Algorithm
from collectives.catalogue.card import LABELS

PACKAGE = Path(collectives.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
HOMES = ("intra", "inter", "split", "chain/sort", "making", "files/read_all", "files/write_all")
"""Where every file is an algorithm; split is an operation and a kind of its own."""

PROGRAM = PACKAGE / "measure.py"
"""`python -m collectives.measure` is started by mpiexec, where nobody hands it a communicator: it imports mpi4py itself."""

ALGORITHM_FILES = [
    file
    for file in FILES
    if file.relative_to(PACKAGE).as_posix().startswith(tuple(f"{home}/" for home in HOMES)) and file.stem != "__init__"
]
COLLECTIVE_CALLS = re.compile(
    r"\.(I?[bB]cast|I?[gG]atherv?|I?[sS]catterv?|I?[aA]ll\w+|I?[rR]educe\w*|I?[bB]arrier|Split|Dup)\("
)


def path(algorithm: Algorithm) -> tuple[str, ...]:
    """Kind, operation, name; a split is an operation and a kind of its own."""
    return (*dict.fromkeys((algorithm.kind, algorithm.operation)), algorithm.name)


def every(algorithm: Algorithm) -> str:
    return "-".join(path(algorithm))


@pytest.mark.parametrize("algorithm", CATALOGUE, ids=every)
def test_path_function_and_catalogue_agree(algorithm: Algorithm) -> None:
    """The path of an algorithm is a grammar: kind, operation, name."""
    assert algorithm.run.__module__ == ".".join(("collectives", *path(algorithm)))
    assert algorithm.run.__name__ == f"{algorithm.operation}_{algorithm.name}"


def test_every_algorithm_file_is_in_the_catalogue_once() -> None:
    """A file that was forgotten, or two of one name."""
    names = [path(a) for a in CATALOGUE]
    paths = [(*file.relative_to(PACKAGE).parts[:-1], file.stem) for file in ALGORITHM_FILES]
    assert sorted(names) == sorted(paths)


@pytest.mark.parametrize("algorithm", CATALOGUE, ids=every)
def test_card_is_complete(algorithm: Algorithm) -> None:
    """Idea, a picture for p = 4, and all the labelled lines."""
    assert "p = 4" in (sys.modules[algorithm.run.__module__].__doc__ or "")
    assert list(algorithm.card) == list(LABELS)
    assert all(algorithm.card.values())
    assert algorithm.source == algorithm.card["Source"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_are_standard_numpy_or_own(file: Path) -> None:
    """Never fakempi, and never mpi4py but in the one program that is started on it."""
    forbidden = ("fakempi",) if file == PROGRAM else ("fakempi", "mpi4py")
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] not in forbidden, f"{file} imports {name}"


def test_mpi4py_is_imported_when_measuring_begins_and_not_before() -> None:
    """So the module can be imported, and asked for help, where there is none."""
    outer = ast.parse(PROGRAM.read_text()).body
    (main,) = (node for node in outer if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert "from mpi4py import MPI" in ast.unparse(main)
    assert not any("mpi4py" in ast.unparse(node) for node in outer if isinstance(node, ast.Import | ast.ImportFrom))


@pytest.mark.parametrize("file", ALGORITHM_FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_collective_method_of_a_communicator_is_called(file: Path) -> None:
    """An algorithm that called comm.Bcast could recurse through the table."""
    assert not re.search(r"\b(comm|local|inter)" + COLLECTIVE_CALLS.pattern, file.read_text())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_files_stay_small(file: Path) -> None:
    """Most near 120 lines, none above 200."""
    assert len(file.read_text().splitlines()) <= 200
