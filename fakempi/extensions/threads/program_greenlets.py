"""Greenlets of the program, in programs that name a package of greenlets: MPI calls are checked from the first switch on.

A check of all calls of such programs would make a message of a ring take at least 1.6 times as long. Therefore
`greenlet.switch` is replaced in their runs, which makes a switch a tenth slower. From the first switch by a rank on, the
callers of MPI calls are checked (unmanaged.py).
"""

from __future__ import annotations

from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.types import Patch
from fakempi.extensions.threads.unmanaged import check_callers


def switches() -> Patch | None:
    """Return the change of `greenlet.switch`; None if greenlet is not installed."""
    try:
        from greenlet import greenlet

        import fakempi.core.kernel.greenlets  # noqa: F401  it keeps the method from before the change
    except ImportError:
        return None
    original: Any = greenlet.switch

    def switch(target: Any, *args: Any, **kwargs: Any) -> Any:
        task = current_task()
        if task is not None:
            check_callers(task.agenda)
        return original(target, *args, **kwargs)

    return Patch(greenlet, {"switch": switch})
