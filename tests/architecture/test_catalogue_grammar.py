"""Files, functions and catalogue entries have the same names; cards are complete; algorithms use only their arguments."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import collectives
from collectives import CATALOGUE, Algorithm
from collectives.catalogue.card import LABELS, REDUCTION_LABEL
from collectives.verification.cases import REDUCING
from tests.architecture.source import nodes, text
from tests.helpers.loops import for_each

PACKAGE = Path(collectives.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ALGORITHM_DIRECTORIES = ("intra", "inter", "split", "chain/sort", "comm_creation", "files/read_all", "files/write_all")
"""Directories in which every file is an algorithm; split is both an operation and a kind."""

PROGRAM = PACKAGE / "measure.py"
"""`python -m collectives.measure` runs under mpiexec, so it imports mpi4py to get a communicator."""

ALGORITHM_FILES = [
    file
    for file in FILES
    if file.stem != "__init__"
    and file.relative_to(PACKAGE).as_posix().startswith(tuple(f"{directory}/" for directory in ALGORITHM_DIRECTORIES))
]
ADVICE = "fakempi compare OPERATION --bits derives what to write"
COLLECTIVE_CALLS = re.compile(
    r"\.(I?[bB]cast|I?[gG]atherv?|I?[sS]catterv?|I?[aA]ll\w+|I?[rR]educe\w*|I?[bB]arrier|Split|Dup)\("
)


def path(algorithm: Algorithm) -> tuple[str, ...]:
    """Return the directory, operation and name; a split is both an operation and a kind."""
    directory = algorithm.kind
    return (*dict.fromkeys((directory, algorithm.operation)), algorithm.name)


@for_each("algorithm", CATALOGUE)
def test_path_function_and_catalogue_agree(algorithm: Algorithm) -> None:
    """The path of an algorithm is a grammar: kind, operation, name."""
    assert algorithm.run.__module__ == ".".join(("collectives", *path(algorithm)))
    assert algorithm.run.__name__ == f"{algorithm.operation}_{algorithm.name}"


def test_every_algorithm_file_is_in_the_catalogue_once() -> None:
    """No file is missing, and no two entries have the same name."""
    names = [path(a) for a in CATALOGUE]
    paths = [(*file.relative_to(PACKAGE).parts[:-1], file.stem) for file in ALGORITHM_FILES]
    assert sorted(names) == sorted(paths)


@for_each("algorithm", CATALOGUE)
def test_card_is_complete(algorithm: Algorithm) -> None:
    """Idea, a picture for p = 4, and all the labeled lines."""
    assert "p = 4" in (sys.modules[algorithm.run.__module__].__doc__ or "")
    assert [label for label in algorithm.card if label != REDUCTION_LABEL] == list(LABELS)
    is_reduction = algorithm.operation in REDUCING and algorithm.kind in ("intra", "inter")
    assert (algorithm.bits is not None) == is_reduction, f"the card of {algorithm!r} needs a line 'Bits': {ADVICE}"
    assert all(algorithm.card.values())
    assert algorithm.source == algorithm.card["Source"]


@for_each("file", FILES)
def test_imports_are_standard_numpy_or_own(file: Path) -> None:
    """Algorithms do not import fakempi; only the program that runs under mpiexec imports mpi4py."""
    forbidden = ("fakempi",) if file == PROGRAM else ("fakempi", "mpi4py")
    if not any(name in text(file) for name in forbidden):
        return
    for node in nodes(file):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] not in forbidden, f"{file} imports {name}"


def test_mpi4py_is_imported_only_when_measuring_begins() -> None:
    """The module can be imported, and prints its help, where mpi4py is missing."""
    outer = ast.parse(PROGRAM.read_text()).body
    (main,) = (node for node in outer if isinstance(node, ast.FunctionDef) and node.name == "main")
    assert "from mpi4py import MPI" in ast.unparse(main)
    assert not any("mpi4py" in ast.unparse(node) for node in outer if isinstance(node, ast.Import | ast.ImportFrom))


@for_each("file", ALGORITHM_FILES)
def test_no_collective_method_of_a_communicator_is_called(file: Path) -> None:
    """An algorithm that called comm.Bcast could recurse through the table."""
    assert not re.search(r"\b(comm|local|inter)" + COLLECTIVE_CALLS.pattern, text(file))


@for_each("file", FILES)
def test_files_stay_small(file: Path) -> None:
    """Most files have about 120 lines, none has more than 200."""
    assert len(text(file).splitlines()) <= 200
