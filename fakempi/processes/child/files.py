"""File descriptors of a child."""

from __future__ import annotations

from typing import NamedTuple


class ChildFiles(NamedTuple):
    """File descriptors of a child.

    Attributes
    ----------
    source, target : messages from the parent, and to it
    lifeline : a pipe that is closed when the parent ends
    arena : memory that is shared with the parent
    ending : a pipe for the report of the end of the program
    reentry : a socket for calls of finalizers and others during a call of the same thread
    """

    source: int
    target: int
    lifeline: int
    arena: int
    ending: int
    reentry: int
