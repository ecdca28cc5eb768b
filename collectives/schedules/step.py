"""Step and Range: one operation of a rank, and the bytes that it reads or writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from collectives.tools.plurals import counted

Kind = Literal["send", "recv", "copy", "reduce", "compute"]
KINDS: Final[tuple[Kind, ...]] = ("send", "recv", "copy", "reduce", "compute")

UNKNOWN: Final = ""
"""The buffer of a range whose position is unknown: GOAL files specify sizes only."""


@dataclass(frozen=True, slots=True)
class Range:
    """`nbytes` bytes of a buffer of a rank, from `offset` on."""

    buffer: str
    offset: int
    nbytes: int

    def __str__(self) -> str:
        if self.buffer == UNKNOWN:
            return counted(self.nbytes, "byte")
        return f"{self.buffer}[{self.offset}:{self.offset + self.nbytes}]"

    @property
    def stop(self) -> int:
        """The first byte after the range."""
        return self.offset + self.nbytes

    def overlaps(self, other: Range) -> bool:
        """Whether the two ranges share a byte."""
        same_buffer = self.buffer == other.buffer != UNKNOWN
        return same_buffer and max(self.offset, other.offset) < min(self.stop, other.stop)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a rank.

    Attributes
    ----------
    kind : "send", "recv", "copy" (target = source), "reduce" (target = source op target) or "compute"
    peer, tag : of a send or a receive
    source, target : the range that is read; the range that is written
    seconds : of a "compute" step
    cpu, nic : numbers of the processor and of the network interface of the rank that the step uses, in a rank with several
    after : steps of the same rank that must end before this one starts, by index
    after_start : steps of the same rank that must start before this one starts
    """

    kind: Kind
    peer: int = -1
    tag: int = 0
    source: Range | None = None
    target: Range | None = None
    seconds: float = 0.0
    after: tuple[int, ...] = ()
    after_start: tuple[int, ...] = ()
    cpu: int = 0
    nic: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes that the step moves or combines."""
        moved = self.target if self.kind == "recv" else self.source
        return 0 if moved is None else moved.nbytes

    def reads(self) -> list[Range]:
        """The ranges whose contents matter to the step."""
        ranges = (self.source, self.target if self.kind == "reduce" else None)
        return [each for each in ranges if each is not None and each.nbytes]

    def writes(self) -> list[Range]:
        """The ranges that the step changes."""
        return [self.target] if self.target is not None and self.target.nbytes else []

    def __str__(self) -> str:
        units = "".join(f", {name} {number}" for name, number in (("cpu", self.cpu), ("nic", self.nic)) if number)
        if self.kind == "send":
            return f"send {self.source} to rank {self.peer}, tag {self.tag}{units}"
        if self.kind == "recv":
            return f"receive {self.target} from rank {self.peer}, tag {self.tag}{units}"
        if self.kind == "compute":
            return f"compute {self.seconds:g} s{units}"
        return f"{self.kind} {self.source} to {self.target}{units}"
