"""The error for a schedule that cannot be read or is inconsistent."""

from __future__ import annotations


class InvalidScheduleError(ValueError):
    """A schedule or schedule file is invalid; the message names the file, the line and the reason as far as known."""
