"""Sizes of files, words that do not belong in a package, docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import FILES, ROOT, nodes, text, tree

PRINTERS = {"cli.py", "__main__.py"}

FOREIGN = {
    "core/kernel": {"rank", "tag", "comm", "message", "mpi"},
    "core/network": {"buffer", "datatype", "comm", "request", "greenlet"},
}
"""Words that show that a line is in the wrong package."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def docstrings(path: Path) -> list[ast.Constant]:
    """Strings that stand alone: docstrings, and those below a constant."""
    expressions = [node.value for node in nodes(path) if isinstance(node, ast.Expr)]
    return [node for node in expressions if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def words(string: str) -> set[str]:
    """The words in `lastTag HTTPRequest two_ranks`: last, tag, http, request, two, ranks and also rank."""
    parts = {part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", string)}
    return parts | {part.removesuffix("s") for part in parts}


def words_in(path: Path) -> Iterator[tuple[int, str]]:
    """The words of a file's code and comments, by line. Docstrings may mention other packages."""
    starts = {(node.lineno, node.col_offset) for node in docstrings(path)}
    for token in tokenize.generate_tokens(io.StringIO(text(path)).readline):
        if token.start not in starts and token.type != tokenize.OP:
            yield from ((token.start[0], word) for word in words(token.string))


def public_definitions(module: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Functions, classes and their methods without an underscore in front."""
    for node in ast.iter_child_nodes(module):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    method
                    for method in node.body
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and not is_variant(method)
                )


def is_variant(method: ast.FunctionDef) -> bool:
    """Setters and overloads, which the first definition of the name documents."""
    decorators = {ast.unparse(decorator).split(".")[-1] for decorator in method.decorator_list}
    return bool(decorators & {"setter", "deleter", "overload"})


def lines_of(node: ast.stmt) -> int:
    """The number of lines of a statement."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


@pytest.mark.parametrize("package", sorted(FOREIGN))
def test_kernel_and_network_do_not_mention_upper_layers(package: str) -> None:
    """The kernel does not know MPI, and the network does not know buffers."""
    lines = [
        f"{name(path)}:{line} has the word {word!r}"
        for path in FILES
        if path.is_relative_to(ROOT / "fakempi" / package)
        for line, word in words_in(path)
        if word in FOREIGN[package]
    ]
    assert lines == []


def test_files_have_at_most_400_lines() -> None:
    """Most have near 120."""
    lengths = {name(path): len(text(path).splitlines()) for path in FILES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def test_functions_have_at_most_60_lines() -> None:
    """Without docstrings: those of `run`, `explore` and `sweep` describe every parameter."""
    lengths = {
        f"{name(path)}:{node.lineno} {node.name}": size
        for path in FILES
        for node in nodes(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if (size := lines_of(node) - (lines_of(node.body[0]) if ast.get_docstring(node) else 0)) > 60
    }
    assert lengths == {}


def test_the_kernel_has_at_most_475_lines() -> None:
    """Lines that are not blank, in all files together: it is read in one sitting."""
    files = (ROOT / "fakempi" / "core" / "kernel").glob("*.py")
    assert sum(bool(line.strip()) for path in files for line in text(path).splitlines()) <= 475


def test_every_module_has_a_docstring() -> None:
    """Not only packages."""
    assert [name(path) for path in FILES if not ast.get_docstring(tree(path))] == []


def test_every_public_definition_has_a_docstring() -> None:
    """Functions, classes and methods; special methods (`__len__`) and an algorithm's claims may do without."""
    missing = [
        f"{name(path)}:{definition.lineno} {definition.name}"
        for path in FILES
        if path.is_relative_to(ROOT / "fakempi")
        for definition in public_definitions(tree(path))
        if not ast.get_docstring(definition)
    ]
    assert missing == []


def test_every_type_ignore_has_a_reason() -> None:
    """`# type: ignore[code]  # reason`."""
    bare = [
        f"{name(path)}:{number}"
        for path in FILES
        for number, line in enumerate(text(path).splitlines(), 1)
        if "# type: ignore" in line and not re.search(r"# type: ignore\[[\w, -]+\]  # \w", line)
    ]
    assert bare == []


def test_only_the_command_line_prints() -> None:
    """A library that prints cannot be silenced."""
    printing = [
        f"{name(path)}:{node.lineno}"
        for path in FILES
        if path.name not in PRINTERS
        for node in (nodes(path) if "print" in text(path) else ())
        if isinstance(node, ast.Name) and node.id == "print"
    ]
    assert printing == []


def test_functions_have_no_attributes() -> None:
    """Data that belong to a function are those of an object with `__call__`."""
    found = [
        f"{name(path)}:{target.lineno}"
        for path in FILES
        for scope in nodes(path)
        if isinstance(scope, (ast.FunctionDef, ast.Module))
        if (functions := {node.name for node in scope.body if isinstance(node, ast.FunctionDef)})
        for node in ast.walk(scope)
        for target in (node.targets if isinstance(node, ast.Assign) else ())
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in functions
        if not target.attr.startswith("__")
    ]
    assert found == []


def test_words_are_found_inside_identifiers() -> None:
    """The tests above rely on it."""
    found = words("lastTag HTTPRequest two_ranks fakempi")
    assert found == {"last", "tag", "http", "request", "two", "ranks", "rank", "fakempi"}


def test_frames_of_threads_are_read_in_one_place() -> None:
    """That function disables the garbage collector meanwhile."""
    asking = [name(path) for path in FILES if "sys._current_frames" in text(path)]
    rejecting = "fakempi/apps/course/sandbox/audit.py"  # the name of an event
    ranks = "fakempi/apps/watch/rank/frames.py"  # which may not import fakempi
    assert asking == [rejecting, ranks, "fakempi/mpi/base/frames.py"]


def test_no_code_counts_frames_of_the_stack() -> None:
    """A function may rely on its own frame and on its caller's; other frames are found by a search, or measured."""
    modules = [name(path) for path in FILES if "_getframe" in text(path)]
    channel = "fakempi/processes/child/channel.py"  # a generated function is between it and the program
    hooks = "fakempi/processes/child/patches/debugging.py"  # which the program calls
    agent = "fakempi/apps/watch/rank/agent.py"  # which a program calls in place of sys.exit
    log = "fakempi/apps/record/log.py"  # a wrapper is between it and the program
    depth = "fakempi/core/stack_depth.py"  # which counts all of them
    site = "fakempi/mpi/base/call_site.py"
    assert sorted(modules) == [log, agent, depth, site, channel, hooks, "fakempi/trace/call_finder.py"]
    depths = [
        (name(path), ast.unparse(node))
        for path in FILES
        if not name(path).startswith("fakempi/trace/")
        for node in (nodes(path) if "frame_at" in text(path) else ())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "frame_at"
    ]
    assert len(depths) > 50
    assert [one for one in depths if one[1] not in ("frame_at(0)", "frame_at(1)")] == []
