"""Greenlets of the program's own, which may not call MPI where ranks are greenlets, too.

A rank that waits would be gone on with in its own greenlet, and not in the one that waits. To look on each call which one
it is would cost every program something. So a rank's loop looks from when the rank first switches to one of its own.
"""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.mpi.base.complain import complaint
from fakempi.threads.here import task_here

try:
    import greenlet as module
except ImportError:  # it is an extra
    module = None  # type: ignore[assignment]


def changes(watch: Any) -> dict[Any, dict[str, Any]]:
    """What is changed in the package greenlet, if it is there; `watch` makes a loop look who asks."""
    if module is None:
        return {}
    original = module.greenlet.switch

    def switch(greenlet: Any, *args: Any, **kwargs: Any) -> Any:
        task = task_here()
        if task is not None:
            watch(task.agenda)
        return original(greenlet, *args, **kwargs)

    return {module.greenlet: {"switch": switch}}


def check(task: Any) -> None:
    """Complain if it is not the task's own greenlet that asks."""
    if module is None or task is not task_here() or not isinstance(task.handle, module.greenlet):
        return
    if module.getcurrent() is not task.handle:
        raise complaint(
            ERR_OTHER,
            f"this is a greenlet that {task.owner.name} has started. Ranks are greenlets themselves here, and only the "
            "rank's own may call MPI: run(..., carrier='threads'), or let the rank start threads.",
        )
