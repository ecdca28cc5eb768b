"""Output of children: whole lines, in the order in which ranks run."""

from __future__ import annotations

import codecs
import sys
from typing import Any


class Relay:
    """Writes the output of a child to the standard streams of the parent, line by line.

    `label` is the prefix of each line. With `prompts`, an incomplete line is written at once: it may be a question.
    """

    def __init__(self, label: str, prompts: bool = False) -> None:
        self.label, self.prompts = label, prompts
        self.partial = {1: "", 2: ""}
        self.decoders = {number: codecs.getincrementaldecoder("utf-8")("replace") for number in (1, 2)}

    def write(self, number: int, data: bytes) -> None:
        """Add output of the child to a stream; write complete lines."""
        text = self.partial[number] + self.decoders[number].decode(data)
        head, newline, self.partial[number] = text.rpartition("\n")
        if newline:
            self._write(number, head)
        if self.prompts and self.partial[number]:
            stream: Any = sys.stdout if number == 1 else sys.stderr
            stream.write(self.partial[number])
            stream.flush()
            self.partial[number] = ""

    def finish(self) -> None:
        """Write the incomplete last line of each stream."""
        for number, text in self.partial.items():
            if text:
                self._write(number, text)
        self.partial = {1: "", 2: ""}

    def _write(self, number: int, lines: str) -> None:
        stream: Any = sys.stdout if number == 1 else sys.stderr
        if self.label:
            lines = self.label + lines.replace("\n", "\n" + self.label)
        stream.write(lines + "\n")
        stream.flush()  # the child has flushed it; a reader of a pipe waits for it
