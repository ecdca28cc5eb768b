"""The failure of a test."""

from __future__ import annotations

from fakempi.errors import LAYOUT_CHARACTERS, printable

ANYWHERE = ("syntax", "missing", "changed", "gone")
"""Kinds of failures that do not depend on the number of ranks or on buffering."""

STARTS = ("deadlock", "livelock", "rank ", "the ", "it ")
"""How sentences begin that get a capital letter if nothing is in front of them. Others begin with a name of a function."""


class Wrong(Exception):
    """A wrong solution: a sentence, and as details a report, a timeline, the program's output, and the number of ranks."""

    def __init__(
        self,
        sentence: str,
        kind: str = "result",
        report: str = "",
        picture: str = "",
        printed: str = "",
        ranks: int = 0,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.kind, self.ranks = printable(sentence), kind, ranks
        self.report, self.printed = printable(report, LAYOUT_CHARACTERS), printable(printed, LAYOUT_CHARACTERS)
        self.picture = picture

    def located(self, where: str, picture: str = "") -> Wrong:
        """Return the same failure with its circumstances in front of the sentence, and a timeline."""
        sentence = self.sentence
        if where and self.kind not in ANYWHERE:
            sentence = f"{where}: {sentence}"
        if sentence.startswith(STARTS):
            sentence = sentence[:1].upper() + sentence[1:]
        return Wrong(sentence, self.kind, self.report, picture or self.picture, self.printed, self.ranks)
