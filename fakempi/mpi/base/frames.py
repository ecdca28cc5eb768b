"""Where OS threads are."""

from __future__ import annotations

import gc
import sys
from types import FrameType


def current_frames() -> dict[int, FrameType]:
    """Of each thread, by its identity, the frame that it is in."""
    collects = gc.isenabled()
    gc.disable()  # if a collection in the midst of it ends a thread, it hangs (seen on 3.11)
    frames = sys._current_frames()
    if collects:
        gc.enable()
    return frames
