"""The known facts about a mistake: the calls in the source, and the failure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from fakempi.apps.course.source import without_script
from fakempi.apps.course.wrong import Wrong


class MistakeEvidence:
    """A student's file without its script part, and the failure of its check."""

    def __init__(self, text: str, wrong: Wrong) -> None:
        self.wrong, self.text = wrong, text
        self.tree = without_script(text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the source, in the order of lines."""
        found = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        return sorted(found, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """The calls of methods, with the method's name."""
        return [
            (node.func.attr, node)
            for node in self.nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]

    def calls_of(self, *names: str) -> Iterator[tuple[str, ast.Call]]:
        """Yield the calls of these methods."""
        return ((name, call) for name, call in self.calls if name in names)

    def called(self, *names: str) -> bool:
        """Whether one of these methods is called."""
        return any(True for _ in self.calls_of(*names))


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword argument, or None."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def receiver(call: ast.Call) -> str:
    """Return the text in front of the method's name, such as `comm`."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else "comm"


def words(text: str) -> list[str]:
    """Return the words of a text: names are easier to read without quotes and commas."""
    return text.split()
