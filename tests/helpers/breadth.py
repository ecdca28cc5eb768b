"""How many cases the slow tests try: a selection, or with HYPOTHESIS_PROFILE=thorough all of them."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def breadth(usual: T, thorough: T) -> T:
    """The value for the current profile."""
    return thorough if THOROUGH else usual
