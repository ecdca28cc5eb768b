"""Output of children: whole lines, in the order in which ranks run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial

from fakempi.isolation.lines import Cursor, Lines, Sink


class Relay:
    """Writes the output of a child to the standard streams of the parent: its bytes, line by line.

    `label` is the prefix of each line. All relays share the `cursors`, one for each stream. With `prompts`, an incomplete
    line is written at once: it may be a question.
    """

    def __init__(self, label: str, prompts: bool = False, cursors: Mapping[int, Cursor] | None = None) -> None:
        self.prompts = prompts
        shared = cursors or {}
        self.lines = {number: Lines(partial(self._write, number), label, shared.get(number)) for number in (1, 2)}

    def write(self, number: int, data: bytes) -> None:
        """Add output of the child to a stream; write complete lines."""
        lines = self.lines[number]
        lines.add(data)
        if self.prompts:
            lines.show()
        else:
            lines.show_flushed(_sink(number))

    def finish(self) -> None:
        """Write the incomplete last line of each stream."""
        for lines in self.lines.values():
            lines.finish()

    def _write(self, number: int, data: bytes) -> None:
        sink = _sink(number)
        sink.flush()  # text of the parent, which is in a layer above the bytes
        sink.write(data)
        sink.flush()  # the child has flushed it; a reader of a pipe waits for it


def _sink(number: int) -> Sink:
    return Sink(sys.stdout if number == 1 else sys.stderr)
