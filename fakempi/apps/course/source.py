"""The text of a student's file."""

from __future__ import annotations

import ast


def without_script(text: str) -> ast.Module:
    """Return a module without its `if __name__ == "__main__":` part, since the check calls its functions."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))]
    return tree


def syntax_message(error: SyntaxError | ValueError) -> str:
    """Return a sentence for a file that is not valid Python."""
    if isinstance(error, SyntaxError):
        return f"Line {error.lineno} is not valid Python: {error.msg}."
    return f"The file is not valid Python: {error}."
