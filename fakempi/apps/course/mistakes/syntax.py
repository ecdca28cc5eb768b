"""Mistakes that Python's parser rejects."""

from __future__ import annotations

import ast
import re

HEADER = re.compile(r"\s*(if|elif|while|for|else|def|with|try|except|finally)\b")


def syntax_mistake(text: str) -> str:
    """Return a sentence on the first error of the parser, if it is a typical one."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        number = error.lineno or 1
        lines = text.splitlines()
        line = lines[number - 1] if number <= len(lines) else ""
        return _of_line(line, number, error)
    except ValueError:
        return ""
    return ""


def _of_line(line: str, number: int, error: SyntaxError) -> str:
    header = HEADER.match(line)
    if header and header[1] in ("if", "elif", "while") and re.search(r"[^=!<>:]=[^=]", line):
        return f"Line {number} has = where == is meant: = assigns a value, == compares two."
    if isinstance(error, IndentationError):
        rule = "use four spaces for each level, and no tabs."
        return f"The indentation of line {number} does not fit the lines around it: {rule}"
    if header and not line.split("#")[0].rstrip().endswith(":"):
        return f"Line {number} begins with {header[1]} and needs a colon at its end."
    if "was never closed" in str(error.msg) or "unmatched" in str(error.msg):
        return f"Count the parentheses in line {number}: each ( needs a )."
    return ""
