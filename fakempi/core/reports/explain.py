"""Explanations of findings and errors, from the files in `explanations`: meaning, a wrong program, a corrected one."""

from __future__ import annotations

from fakempi.core.reports.error_kinds import ERRORS, error_kind, kind_of_class
from fakempi.core.reports.findings import KINDS
from fakempi.errors import FindingsError, classes

TOPICS = KINDS | ERRORS
"""Kind of finding or error -> its meaning."""

_EXCEPTIONS = {
    "DeadlockError": "deadlock",
    "LivelockError": "livelock",
    "RunTimeoutError": "time-limit",
    "OutcomesDifferError": "results-differ",
    "RankError": "exception",
}


def topic(name: str) -> str:
    """Return the kind that a user means: its name, or a word of only one, an error class or an exception; "" if unknown."""
    if name in TOPICS:
        return name
    bare = name.rpartition(".")[2].removeprefix("MPI_")
    if bare.startswith("ERR_") and hasattr(classes, bare):
        return kind_of_class(bare)
    if bare in _EXCEPTIONS:
        return _EXCEPTIONS[bare]
    word = name.lower().replace("_", "-").replace(" ", "-")
    with_word = [kind for kind in TOPICS if word in (kind, *kind.split("-"))]
    return with_word[0] if len(with_word) == 1 else ""


def explanation(kind: str) -> str:
    """Return the explanation of a kind of finding or error, in Markdown."""
    from importlib.resources import files  # takes 3 ms, and few runs need it

    assert kind in TOPICS, kind
    return (files("fakempi.core.reports") / "explanations" / f"{kind}.md").read_text(encoding="utf-8")


def explained_by(error: BaseException) -> str:
    """Return the command that explains an error or its findings; "" for a program's own exceptions and calls of Abort."""
    if isinstance(error, FindingsError):
        kinds = {finding.kind for finding in error.findings}
        return f"fakempi explain {kinds.pop() if len(kinds) == 1 else 'KIND'}" if kinds else ""
    kind = error_kind(error)
    return "" if kind in ("exception", "abort") else f"fakempi explain {kind}"
