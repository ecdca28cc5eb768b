"""Comments that suppress findings: `# noqa` for all, `# noqa: FM101` or `# noqa: FM101, FM103` for these codes.

A comment applies to the line on which it stands. Other tools use the same comments; codes that are not ours are ignored.
"""

from __future__ import annotations

import re
import tokenize
from io import StringIO

from fakempi.apps.lint.findings import LintFinding

COMMENT = re.compile(r"#\s*noqa\b(?P<codes>\s*:\s*[A-Za-z]+[0-9]+(?:[,\s]+[A-Za-z]+[0-9]+)*)?", re.IGNORECASE)
ALL = frozenset({"all"})

Suppressed = dict[int, frozenset[str]]
"""The codes that a line suppresses, or ALL."""


def suppressed_lines(text: str) -> Suppressed:
    """Return the lines with comments, and what they suppress."""
    found: Suppressed = {}
    if "noqa" not in text.lower():
        return found
    try:
        for token in tokenize.generate_tokens(StringIO(text).readline):
            match = COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                codes = re.findall(r"[A-Za-z]+[0-9]+", (match["codes"] or "").upper())
                found[token.start[0]] = frozenset(codes) if match["codes"] else ALL
    except (tokenize.TokenError, SyntaxError):
        pass  # the syntax error is reported
    return found


def is_suppressed(finding: LintFinding, lines: Suppressed) -> bool:
    """Return whether a comment on a line of the finding suppresses it."""
    for line in range(finding.line, max(finding.line, finding.last_line) + 1):
        codes = lines.get(line)
        if codes is not None and (codes is ALL or finding.code in codes):
            return True
    return False
