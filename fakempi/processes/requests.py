"""Requests of processes by environment variables: read before the modules that start processes are imported."""

from __future__ import annotations

import os

HASH_SEED = "PYTHONHASHSEED"
"""The variable that Python reads when it starts; it applies to all ranks if it is set for the run."""


def wants_processes() -> bool:
    """Return whether the environment requests processes: `FAKEMPI_PROCESSES` is set, and not to 0 or an empty text."""
    return os.environ.get("FAKEMPI_PROCESSES", "0") not in ("", "0")
