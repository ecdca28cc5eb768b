"""Errors for a schedule that cannot be read or verified."""

from __future__ import annotations


class InvalidScheduleError(ValueError):
    """A schedule or schedule file is invalid; the message names the file, the line and the reason as far as known."""


class VerificationTimeoutError(InvalidScheduleError):
    """The verification of a schedule reached its time limit, so whether it has faults is not known."""
