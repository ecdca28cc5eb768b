"""What a room may say, how much, and that it says what its things are for."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXERCISES = ROOT / "fakempi" / "learn" / "exercises"
FILES = sorted(
    path
    for package in ("fakempi", "collectives")
    for path in (ROOT / package).rglob("*.py")
    if not path.is_relative_to(EXERCISES)  # students' programs
)
PRINTERS = {"cli.py", "__main__.py"}

FOREIGN = {
    "kernel": {"rank", "tag", "comm", "message", "mpi"},
    "wire": {"buffer", "datatype", "comm", "request", "greenlet"},
}
"""Words that show that a line is in the wrong room."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def docstrings(tree: ast.Module) -> list[ast.Constant]:
    """Strings that stand alone: docstrings, and those below a constant."""
    expressions = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return [node for node in expressions if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def words(text: str) -> set[str]:
    """`lastTag`, `HTTPRequest` and `two_ranks` say last, tag, http, request, two, ranks and also rank."""
    parts = {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text)}
    return parts | {part.removesuffix("s") for part in parts}


def said(path: Path) -> Iterator[tuple[int, str]]:
    """The words of a file's code and comments, by line. Docstrings may speak of other rooms."""
    text = path.read_text(encoding="utf-8")
    starts = {(node.lineno, node.col_offset) for node in docstrings(ast.parse(text))}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.start not in starts and token.type != tokenize.OP:
            yield from ((token.start[0], word) for word in words(token.string))


def public_things(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Functions, classes and their methods without an underscore in front."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    method
                    for method in node.body
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not is_variant(method)
                )


def is_variant(method: ast.FunctionDef) -> bool:
    """Setters and overloads, which the first of their name explains."""
    decorators = {ast.unparse(decorator).split(".")[-1] for decorator in method.decorator_list}
    return bool(decorators & {"setter", "deleter", "overload"})


@pytest.mark.parametrize("room", sorted(FOREIGN))
def test_a_room_speaks_of_its_own_things(room: str) -> None:
    """The kernel has never heard of MPI, and the wire not of what programs hold."""
    lines = [
        f"{name(path)}:{line} says {word!r}"
        for path in FILES
        if path.is_relative_to(ROOT / "fakempi" / room)
        for line, word in said(path)
        if word in FOREIGN[room]
    ]
    assert lines == []


def test_no_file_is_long() -> None:
    """400 lines at most; most have near 120."""
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_the_kernel_is_read_in_one_sitting() -> None:
    """430 lines that are not blank, in all its files together."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "fakempi" / "kernel").glob("*.py")]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= 430


def test_every_module_says_what_it_holds() -> None:
    """In a docstring."""
    assert [name(path) for path in FILES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


def test_every_public_thing_says_what_it_is_for() -> None:
    """Functions, classes and methods; those that Python calls by itself (`__len__`) need not, nor an algorithm's claims."""
    silent = [
        f"{name(path)}:{thing.lineno} {thing.name}"
        for path in FILES
        if path.is_relative_to(ROOT / "fakempi")
        for thing in public_things(ast.parse(path.read_text(encoding="utf-8")))
        if not ast.get_docstring(thing)
    ]
    assert silent == []


def test_nothing_prints_but_the_command_line() -> None:
    """A library that prints cannot be quiet."""
    printing = [
        f"{name(path)}:{node.lineno}"
        for path in FILES
        if path.name not in PRINTERS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "print"
    ]
    assert printing == []


def test_words_are_found_whatever_they_are_part_of() -> None:
    """Lest the tests above hold because nothing is looked at."""
    found = words("lastTag HTTPRequest two_ranks fakempi")
    assert found == {"last", "tag", "http", "request", "two", "ranks", "rank", "fakempi"}


def test_frames_of_threads_are_asked_for_in_one_place() -> None:
    """Where the garbage collector stands still meanwhile."""
    asking = [name(path) for path in FILES if "sys._current_frames" in path.read_text(encoding="utf-8")]
    assert asking == ["fakempi/mpi/base/frames.py"]
