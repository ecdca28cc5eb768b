"""How many cases tests try: a selection, or more of them in .ci/full, by HYPOTHESIS_PROFILE."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

PROFILE = os.environ.get("HYPOTHESIS_PROFILE")
THOROUGH = PROFILE == "thorough"
USUAL = 12
"""Examples of a test in the usual run."""


def breadth(usual: T, thorough: T) -> T:
    """The value for the current profile."""
    return thorough if THOROUGH else usual


def examples(count: int) -> int:
    """The number of examples of a Hypothesis test: `count` in .ci/full, fewer in the usual run."""
    return count if PROFILE in ("full", "thorough") else min(count, USUAL)
