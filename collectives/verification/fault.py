"""AlgorithmFault: an error of an algorithm in one case. Also the settings in which cases are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collectives.verification.machine import Setting

EXACT = Setting()
"""Latency and bandwidth both matter, and combining costs nothing."""

BALANCED = Setting(t_s=32, t_w=2, c=1)
"""Combining costs time, too."""

ROUNDS = Setting(t_s=1, t_w=0)
"""Every message costs 1, regardless of its size: the modeled time is the number of rounds."""

FAILURES = ("timeout", "error", "deadlock", "livelock")
"""Kinds of faults in which the run did not finish."""

KINDS = (
    *FAILURES, "fits", "claims", "schedule", "result", "input", "unreceived", "messages",
    "bytes", "rounds", "time", "scratch", "holds", "bits",
)  # fmt: skip
"""All kinds of faults, the most informative first."""


class AlgorithmFault(NamedTuple):
    """An error in one case: one of KINDS, a message, and the two values that differ."""

    kind: str
    message: str
    claimed: Any
    actual: Any
    setting: Setting | None = None
    by_rank: Sequence[tuple[str, str]] = ()
    """Claimed (or expected) and actual values of every rank, for faults that have them."""
