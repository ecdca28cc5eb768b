"""All rules, by code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding
from fakempi.apps.lint.rules import (
    buffer_use,
    early_exit,
    exception_path,
    lost_request,
    mixed_interface,
    no_buffer,
    rank_branch,
    rank_loop,
    rank_root,
    receive_cycle,
    send_cycle,
)  # fmt: skip

MODULES: tuple[ModuleType, ...] = (
    rank_branch, early_exit, rank_loop, exception_path, rank_root, send_cycle, receive_cycle, mixed_interface, lost_request,
    buffer_use, no_buffer,
)  # fmt: skip
RULES: dict[str, Any] = {module.CODE: module for module in MODULES}
TITLES: dict[str, str] = {code: module.TITLE for code, module in RULES.items()}


def findings_of(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of all rules, each place once, in the order of lines."""
    found: dict[tuple[str, int, int], LintFinding] = {}
    for module in MODULES:
        for each in module.check(analysis):
            found.setdefault((each.code, each.line, each.column), each)
    yield from (found[key] for key in sorted(found, key=lambda key: (key[1], key[2], key[0])))


def explanation(code: str) -> str:
    """Return the explanation of a rule, in Markdown: its title and the docstring of its module."""
    text = RULES[code].__doc__ or f"python -OO (here: {sys.flags.optimize}) removes explanations."
    return f"# {code}: {TITLES[code]}\n\n{text}"
