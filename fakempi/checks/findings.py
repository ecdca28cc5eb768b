"""Findings: what is wrong with a program and does not stop it.

Whoever finds something tells the run's `Ledger`: which kind, which process, in which call and where, and a sentence. Ranks
that did the same at the same place share a finding, so that 4,096 ranks have as short a list as two. `Ledger.findings` are
the records for programs, the worst first, and `lines` the same for people, at most a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fakempi.checks.ranks import Names

LINES = 20
"""Most lines of a list of findings: a screen, with room for the program's own last words."""

KINDS = {
    # Data are wrong, or may be.
    "datatype-mismatch": "what was sent is not of the type that was received",
    "pickle-met-buffer": "an object was received as a buffer, or the reverse",
    "buffer-in-use": "memory was used while an operation on it was under way",
    "buffer-overlap": "two buffers overlap that must not",
    "window-race": "two accesses to a window clash",
    "epoch": "a window was used outside of an epoch",
    # Something that was begun never came to its end, or could hang elsewhere.
    "message-lost": "nobody received a message",
    "receive-unmatched": "no message came for a receive",
    "collective-unfinished": "some ranks never came to a collective call",
    "unsafe-send": "a send would not end without buffering",
    "missing-wait": "nobody waited for an operation",
    "missing-start": "a persistent operation was never started",
    "after-finalize": "MPI was called after Finalize",
    "missing-finalize": "MPI was initialized by hand, and not finalized",
    "attached-buffer": "a buffer was attached and never detached",
    # What may be intended.
    "wildcard-race": "a wildcard receive could have had another message",
    # Things that were made and never freed.
    "window-leak": "a window was never freed",
    "file-leak": "a file was never closed",
    "request-leak": "a persistent request was never freed",
    "port-leak": "a port was never closed",
    "communicator-leak": "a communicator was never freed",
    "datatype-leak": "a datatype was never freed",
    "group-leak": "a group was never freed",
    "op-leak": "an operation was never freed",
    "info-leak": "an info object was never freed",
    "keyval-leak": "a key for attributes was never freed",
    "errhandler-leak": "an error handler was never freed",
}
"""Every kind, the worst first, and what it means."""

NOTES = {"wildcard-race"}
"""Kinds that may be intended: they are shown, and never a failure by themselves."""

CUSTOMARY = {kind for kind in KINDS if kind.endswith("-leak")} - {"window-leak", "file-leak"}
"""What mpi4py programs leave to the garbage collector: it is looked for in strict runs only."""


@dataclass(frozen=True)
class Finding:
    """Something wrong that did not stop the run.

    Attributes
    ----------
    kind
        Its name, which `fakempi explain` explains.
    ranks
        Those that did it.
    call, place
        What they called, and where: "work.py:17".
    note
        Whether it may be intended, and so is never a failure by itself.
    sentence
        What is wrong.
    who
        The ranks in words.
    times
        How often it was seen.

    Examples
    --------
    >>> import fakempi
    >>> [found] = fakempi.run(lambda comm: comm.send(1, 1) if comm.rank == 0 else None, 2).findings
    >>> found.kind, found.ranks
    ('message-lost', (0,))
    """

    kind: str
    ranks: tuple[int, ...]
    call: str
    place: str
    note: bool
    sentence: str
    who: str
    times: int = 1

    def __str__(self) -> str:
        often = f" ({self.times:,} times)" if self.times > len(self.ranks) else ""
        return f"{self.kind}: {self.who}: {self.call} at {self.place}: {self.sentence}{often}"

    def as_record(self) -> dict[str, Any]:
        """The same in plain values, for JSON."""
        return {
            "kind": self.kind, "ranks": list(self.ranks), "call": self.call, "place": self.place, "note": self.note,
            "sentence": self.sentence, "times": self.times,
        }  # fmt: skip


class Ledger:
    """What was found in a run so far, folded as it comes, so that a million of the same need no more room than one."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.entries: dict[tuple[str, str, str, str], tuple[set[int], set[int], list[int]]] = {}

    def add(
        self, kind: str, rank: int, call: str, place: str, sentence: str, others: Iterable[int] = (), times: int = 1
    ) -> None:  # fmt: skip
        """Write it down. In the sentence `{others}` stands for other processes, which are folded as ranks are."""
        assert kind in KINDS, kind
        ranks, peers, seen = self.entries.setdefault((kind, call, place, sentence), (set(), set(), [0]))
        ranks.add(rank)
        peers.update(others)
        seen[0] += times

    def findings(self) -> list[Finding]:
        """All of them, the worst first; of one kind in the order in which they were found."""
        order = list(KINDS)
        return [self._finding(key) for key in sorted(self.entries, key=lambda key: order.index(key[0]))]

    def _finding(self, key: tuple[str, str, str, str]) -> Finding:
        (kind, call, place, sentence), (ranks, others, times) = key, self.entries[key]
        if others:
            sentence = sentence.replace("{others}", self.names.words(others, 6))
        return Finding(kind, tuple(sorted(ranks)), call, place, kind in NOTES, sentence, self.names.words(ranks), times[0])


def lines(findings: Sequence[Finding], most: int = LINES) -> list[str]:
    """The findings, a line each, and at most so many; what is left out is counted by kind."""
    if len(findings) <= most:
        return [str(one) for one in findings]
    shown, rest = findings[: most - 1], findings[most - 1 :]
    kinds = {one.kind: sum(other.kind == one.kind for other in rest) for one in rest}
    more = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return [*(str(one) for one in shown), f"... and {len(rest)} more: {more}"]


def headline(findings: Sequence[Finding]) -> str:
    """How many: `2 findings`, `1 finding and 3 notes`."""
    notes = sum(one.note for one in findings)
    parts = [(len(findings) - notes, "finding"), (notes, "note")]
    return " and ".join(f"{count} {word}{'s' * (count > 1)}" for count, word in parts if count)
