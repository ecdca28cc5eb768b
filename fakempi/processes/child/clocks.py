"""Clocks of a child: `time.sleep` takes modeled time, and all clocks agree with it, as in scripts on one process."""

from __future__ import annotations

import time
from collections.abc import Callable

from fakempi.isolation.clocks import LikeBuiltin, patch_clocks


def patch_time(compute: Callable[[float], None], is_rank: Callable[[], bool]) -> None:
    """Make `time.sleep` advance the modeled clock of the rank, and add that clock to the real ones.

    Other threads of the process, and processes that it forks, sleep in real time, as they wait for anything else.
    """
    original = time.sleep

    def sleep(seconds: float, /) -> None:
        if not is_rank():
            return original(seconds)
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        compute(seconds)

    vars(time)["sleep"] = LikeBuiltin(sleep, original)
    patch_clocks(setattr)
