"""The text of a student's file."""

from __future__ import annotations

import ast


def without_script(text: str) -> ast.Module:
    """A module without its `if __name__ == "__main__":`, since here somebody else calls its functions."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not _is_script(node)]
    return tree


def _is_script(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def not_python(error: SyntaxError | ValueError) -> str:
    """What Python says of a file that it cannot read."""
    if isinstance(error, SyntaxError):
        return f"Line {error.lineno} is not Python: {error.msg}."
    return f"The file is not Python: {error}."
