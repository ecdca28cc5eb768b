"""Find words and phrases that the project does not use: `python tests/architecture/words.py [PATH ...]` lists them.

The list is `banned_words.txt` next to this file: one regular expression per line, then what to write instead. A test
(`test_words.py`) runs it over the whole repository. A line that quotes such a word on purpose ends with `# words: ok`, or in
Markdown with `<!-- words: ok -->`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUFFIXES = {".py", ".md", ".toml", ".yml", ".js", ".html", ".out", ".cff", ".txt"}
GENERATED = {"__pycache__", ".venv", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache", "build", "site", "dist"}
"""Directories that git ignores."""

EXCEPTIONS = ("tests/architecture/banned_words.txt", "docs/words.md")
"""Files that list these words."""

PRONOUN = re.compile(r"\b(Who|What|Whoever|Somebody|Those)\b")  # words: ok
ALLOWED = re.compile(r"(#|<!--) words: ok")
START_OF_SENTENCE = re.compile(r"(?:^\W*|[.:;!?] +|\"\"\")(Who|What|Whoever|Somebody|Those)\b(?![^.]*\?)")  # words: ok
"""A sentence that starts with a pronoun, unless it is a question."""


@cache
def banned() -> list[tuple[str, re.Pattern[str], str]]:
    """The letters with which each match starts, the expressions, and what to write instead."""
    lines = (Path(__file__).parent / "banned_words.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" -> ") for line in lines if line and not line.startswith("#")]
    return [
        (first_letters(pattern), re.compile(rf"(?<![\w`])({pattern})(?!\w)", re.IGNORECASE), instead)
        for pattern, instead in pairs
    ]


def first_letters(pattern: str) -> str:
    """The letters and spaces that start every match: `ranks?` gives `rank`; none if it has alternatives."""
    pattern = re.sub(r"^\(\?<!.*?\)", "", pattern)  # a condition on what is in front
    letters = "" if "|" in re.sub(r"\(.*?\)", "", pattern) else re.split("[^a-z ]", pattern.lower())[0]
    return letters[:-1] if pattern[len(letters) : len(letters) + 1] in ("?", "*", "{") else letters


def found_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, word, and what to write instead."""
    lower, lines = text.lower(), text.splitlines()
    for number in sorted({len(text[: start + 1].splitlines()) for start in candidates(text, lower)}):
        line = lines[number - 1]
        if ALLOWED.search(line):
            continue
        for letters, pattern, instead in banned():
            if letters in lower and (match := pattern.search(line)):
                yield number, match.group(), instead
        if match := START_OF_SENTENCE.search(line):
            yield number, match.group(1), "name the subject"


def candidates(text: str, lower: str) -> Iterator[int]:
    """Places where a banned word may start: `str.find` is 20 times as fast as a search for the expression in each line."""
    for letters, pattern, _ in banned():
        if not letters:
            yield from (match.start() for match in pattern.finditer(text))
        start = lower.find(letters) if letters else -1
        while start >= 0:
            if pattern.match(text, start):
                yield start
            start = lower.find(letters, start + 1)
    yield from (match.start() for match in PRONOUN.finditer(text))


def tracked(*paths: str) -> list[str]:
    """The names of all files of the repository, or of those below some paths, also in an archive."""
    if (ROOT / ".git").exists():
        command = ["git", "-c", "safe.directory=*", "ls-files", *paths]  # also if another user owns the files
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    starts = [ROOT / path for path in paths or ("",)]
    found = [path for start in starts for path in (start.rglob("*") if start.is_dir() else [start])]
    names = [path.relative_to(ROOT) for path in found if path.is_file()]
    return [name.as_posix() for name in names if not GENERATED.intersection(name.parts)]


def files(paths: Sequence[str] = ()) -> list[Path]:
    """The text files of the repository, or those below some paths."""
    return [
        ROOT / name
        for name in tracked(*paths)
        if Path(name).suffix in SUFFIXES and name not in EXCEPTIONS and (ROOT / name).is_file()
    ]


def report(paths: Sequence[str] = ()) -> list[str]:
    """One line for each place: `path:line: 'word': write ...`."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {word!r}: write {instead}"
        for path in files(paths)
        for number, word, instead in found_in(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in report(sys.argv[1:])))
