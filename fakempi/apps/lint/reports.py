"""Findings as text, as JSON, as SARIF 2.1.0 (for GitHub's code scanning and editors), and as annotations of GitHub."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import PurePath
from urllib.parse import quote

from fakempi.apps.lint.findings import LintFinding
from fakempi.apps.lint.rules.catalogue import TITLES, explanation
from fakempi.errors.plurals import counted

Findings = Sequence[LintFinding]


def as_text(findings: Findings) -> str:
    """Return one line per finding, with its paths and its fix below, and a line with their number."""
    lines = []
    for each in findings:
        lines.append(f"{each.file}:{each.line}:{each.column}: {each.code} {each.message}")
        lines += [f"    {path}" for path in each.paths]
        lines += [f"    fix: {each.fix}"] if each.fix else []
    if findings:
        files = len({each.file for each in findings})
        lines.append(
            f"{counted(len(findings), 'finding')} in {counted(files, 'file')}; fakempi explain CODE shows an example."
        )
    else:
        lines.append("no findings")
    return "\n".join(lines) + "\n"


def as_statistics(findings: Findings) -> str:
    """Return the number of findings of each code, the most frequent first."""
    numbers = Counter(each.code for each in findings)
    lines = [
        f"{number:6}  {code}  {title_of(code)}"
        for code, number in sorted(numbers.items(), key=lambda one: (-one[1], one[0]))
    ]
    return "".join(f"{line}\n" for line in lines) or "no findings\n"


def title_of(code: str) -> str:
    """Return the title of a rule."""
    return TITLES.get(code, "syntax error")


def as_json(findings: Findings) -> str:
    """Return a list of objects."""
    found = [
        {
            "code": each.code, "title": title_of(each.code), "file": each.file, "line": each.line, "column": each.column,
            "message": each.message, "paths": list(each.paths), "fix": each.fix,
        }
        for each in findings
    ]  # fmt: skip
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def as_sarif(findings: Findings) -> str:
    """Return a log of one run, with the rules that have findings."""
    codes = sorted({each.code for each in findings})
    rules = [
        {
            "id": code, "shortDescription": {"text": title_of(code)},
            "fullDescription": {"text": title_of(code)}, "defaultConfiguration": {"level": "error"},
            "help": dict.fromkeys(("text", "markdown"), explanation(code) if code in TITLES else title_of(code)),
        }
        for code in codes
    ]  # fmt: skip
    results = [
        {
            "ruleId": each.code, "ruleIndex": codes.index(each.code), "level": "error",
            "message": {"text": "\n".join([each.message, *each.paths, *([f"Fix: {each.fix}"] if each.fix else [])])},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(each.file)},
                "region": {"startLine": each.line, "startColumn": each.column},
            }}],
        }
        for each in findings
    ]  # fmt: skip
    driver = {"name": "fakempi lint", "rules": rules}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
           "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}]}  # fmt: skip
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def uri(file: str) -> str:
    """Return a path relative to the working directory, as a part of an address; GitHub accepts no others."""
    with suppress(ValueError):  # another drive on Windows
        file = os.path.relpath(file)
    return quote(PurePath(file).as_posix())


def as_github(findings: Findings) -> str:
    """Return workflow commands, which GitHub shows next to the lines of a pull request."""
    lines = []
    for each in findings:
        text = "\n".join([each.message, *each.paths, *([f"fix: {each.fix}"] if each.fix else [])])
        text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        file = each.file.replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
        lines.append(f"::error file={file},line={each.line},col={each.column},title=fakempi lint ({each.code})::{text}")
    return "".join(f"{line}\n" for line in lines)


FORMATS: dict[str, Callable[[Findings], str]] = {
    "text": as_text, "json": as_json, "sarif": as_sarif, "github": as_github,
}  # fmt: skip
