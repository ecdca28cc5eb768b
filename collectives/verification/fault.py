"""A fault: something that is wrong in a case, with the numbers; and the settings in which faults are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collectives.verification.machine import Setting

EXACT = Setting()
BALANCED = Setting(t_s=32, t_w=2, c=1)
ROUNDS = Setting(t_s=1, t_w=0)
"""What one message costs is 1, whatever its size: the time is the number of rounds."""

FAILURES = ("endless", "error", "deadlock", "livelock")
"""A run that does not come to its end."""

ORDER = (
    *FAILURES, "fits", "claims", "schedule", "result", "input", "unreceived", "messages",
    "bytes", "rounds", "time", "scratch", "holds",
)  # fmt: skip
"""All that can be wrong, the most telling first."""


class Fault(NamedTuple):
    """Something that is wrong in a case: which of ORDER, in words, and the numbers."""

    what: str
    words: str
    claimed: Any
    found: Any
    setting: Setting | None = None
    by_rank: Sequence[tuple[str, str]] = ()
    """What is claimed and what was found, rank by rank, where that tells more."""
