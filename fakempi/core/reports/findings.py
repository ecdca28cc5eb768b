"""Findings: errors in a program that do not stop it.

Checks add findings to the run's `Ledger`: the kind, the process, the call, its line, and a sentence. Ranks
that make the same error at the same line share a finding, so that the list for 4,096 ranks is as short as that for two.
`Ledger.findings` returns the records, the worst first, and `lines` a text of at most one screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from fakempi.core.reports.ranks import Names
from fakempi.errors.plurals import counted
from fakempi.errors.records import Finding

LINES = 20
"""The maximum number of lines in a list of findings, so that the program's last output stays on the screen."""

KINDS = {
    # Data is wrong, or may be.
    "datatype-mismatch": "the types of a message and its receive differ",
    "pickle-met-buffer": "an object was received as a buffer, or the reverse",
    "buffer-in-use": "a buffer was changed during an operation on it",
    "buffer-overlap": "two buffers overlap that must not",
    "window-race": "two accesses to a window conflict",
    "file-race": "two accesses to a file conflict",
    "epoch": "a window was accessed outside an epoch",
    # An operation never completed, or could block with another MPI.
    "message-lost": "a message was never received",
    "receive-unmatched": "no message arrived for a receive",
    "collective-unfinished": "some ranks never made a collective call",
    "unsafe-send": "a send would not complete without buffering",
    "rank-number": "a rank is -1, which MPI libraries understand differently",
    "missing-wait": "no rank waited for an operation",
    "missing-start": "a persistent operation was never started",
    "after-finalize": "MPI was called after Finalize",
    "missing-finalize": "the program called Init but not Finalize",
    "attached-buffer": "a buffer was attached and never detached",
    # May be intended.
    "wildcard-race": "a wildcard receive could have matched another message",
    "request-freed": "a request was freed before its operation completed",
    # Objects that were created and never freed.
    "window-leak": "a window was never freed",
    "file-leak": "a file was never closed",
    "request-leak": "a persistent request was never freed",
    "port-leak": "a port was never closed",
    "communicator-leak": "a communicator was never freed",
    "datatype-leak": "a datatype was never freed",
    "group-leak": "a group was never freed",
    "op-leak": "an operation was never freed",
    "info-leak": "an info object was never freed",
    "keyval-leak": "an attribute key was never freed",
    "errhandler-leak": "an error handler was never freed",
}
"""Kind -> its meaning, the worst first."""

NOTES = {"wildcard-race", "request-freed"}
"""Kinds that may be intended: they are shown, and never cause a failure."""

STRICT_ONLY = {kind for kind in KINDS if kind.endswith("-leak")} - {"window-leak", "file-leak"}
"""Objects that mpi4py programs usually leave to the garbage collector: checked in strict runs only."""


class SuppressionRules(Protocol):
    """Decides which findings are suppressed. Implemented by `core.reports.suppressions`."""

    def of_finding(self, kind: str, place: str, sentence: str) -> str:
        """Return where and why a finding is suppressed; empty if it is not."""

    def allows(self, kind: str, place: str) -> bool:
        """Return whether a finding that names a place would be suppressed."""


Key = tuple[str, str, str, str, str]
"""Kind, call, place, sentence, and the file of the place: files may have the same name."""


class Ledger:
    """The findings of a run so far. Equal ones are merged at once, so a million of them need no more memory than one."""

    def __init__(self, names: Names, rules: SuppressionRules | None = None) -> None:
        self.names, self.rules = names, rules
        self.entries: dict[Key, tuple[set[int], set[int], list[int]]] = {}
        self.suppressed: dict[Key, str] = {}  # key of a suppressed finding -> where and why
        self.allowed: dict[tuple[str, str, str], bool] = {}  # results of `allows`
        self.unchecked: set[str] = set()  # sentences that say what a check did not cover, which are notes

    def add(
        self, kind: str, rank: int, call: str, place: str, sentence: str, others: Iterable[int] = (), times: int = 1,
        unchecked: bool = False,
    ) -> bool:  # fmt: skip
        """Add a finding; return whether it counts, because no rule suppresses it.

        `{others}` in the sentence is replaced by the names of `others`, which are merged like ranks. `unchecked`: the
        sentence reports no error, but where the check for errors of this kind is incomplete.
        """
        assert kind in KINDS, kind
        if unchecked:
            self.unchecked.add(sentence)
        key = _key(kind, call, place, sentence)
        if key not in self.entries and self.rules is not None and (why := self.rules.of_finding(kind, place, sentence)):
            self.suppressed[key] = why
        ranks, peers, seen = self.entries.setdefault(key, (set(), set(), [0]))
        ranks.add(rank)
        peers.update(others)
        seen[0] += times
        return key not in self.suppressed

    def ranks_of(self, kind: str, call: str, place: str, sentence: str) -> set[int]:
        """Return the ranks that have made an error."""
        return self.entries.get(_key(kind, call, place, sentence), (set(),))[0]

    def allows(self, kind: str, place: str) -> bool:
        """Return whether findings of a kind that name a place are suppressed; operations by the million have few places."""
        key = (kind, place, getattr(place, "file", ""))
        if key not in self.allowed:
            self.allowed[key] = self.rules is not None and self.rules.allows(kind, place)
        return self.allowed[key]

    def has_errors(self) -> bool:
        """Whether there are findings that count and are no notes."""
        return any(
            key[0] not in NOTES and key[3] not in self.unchecked and key not in self.suppressed for key in self.entries
        )

    def findings(self) -> list[Finding]:
        """Return the findings that count, the worst kinds first; those of one kind in the order in which they were found."""
        return [finding for finding in self.all_findings() if not finding.suppressed]

    def suppressed_findings(self) -> list[Finding]:
        """Return the suppressed findings."""
        return [finding for finding in self.all_findings() if finding.suppressed]

    def all_findings(self) -> list[Finding]:
        """Return all findings, suppressed ones last."""
        order = list(KINDS)
        keys = sorted(self.entries, key=lambda key: (key in self.suppressed, order.index(key[0])))
        return [self._finding(key) for key in keys]

    def _finding(self, key: Key) -> Finding:
        (kind, call, place, sentence, _), (ranks, others, times) = key, self.entries[key]
        note = kind in NOTES or sentence in self.unchecked
        if others:
            sentence = sentence.replace("{others}", self.names.text(others, 6))
        names, why = self.names.text(ranks), self.suppressed.get(key, "")
        return Finding(kind, tuple(sorted(ranks)), call, place, note, sentence, names, times[0], why)


def _key(kind: str, call: str, place: str, sentence: str) -> Key:
    return kind, call, place, sentence, getattr(place, "file", "")


def lines(findings: Sequence[Finding], maximum: int = LINES) -> list[str]:
    """Return one line per finding, up to a maximum; the last line counts the others by kind."""
    if len(findings) <= maximum:
        return [str(finding) for finding in findings]
    shown, rest = findings[: maximum - 1], findings[maximum - 1 :]
    kinds = {finding.kind: sum(other.kind == finding.kind for other in rest) for finding in rest}
    more = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return [*(str(finding) for finding in shown), f"... and {len(rest)} more: {more}"]


def headline(findings: Sequence[Finding]) -> str:
    """Return the number of findings: `2 findings`, `1 finding and 3 notes`."""
    notes = sum(finding.note for finding in findings)
    parts = [(len(findings) - notes, "finding"), (notes, "note")]
    return " and ".join(counted(count, word) for count, word in parts if count)
