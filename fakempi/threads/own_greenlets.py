"""Greenlets of the program's own, which may not call MPI where ranks are greenlets, too.

A rank that waits would be gone on with in its own greenlet, and not in the one that waits. To look on each call which one
it is would cost every program something. So a rank's loop looks from when the rank first switches to one of its own.

Who takes the class from its package during a run gets another one. Where a module has it already, the class itself is
changed, which makes every switch a tenth slower, our own too: so not unless there is such a module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.mpi.base.complain import complaint
from fakempi.threads.here import task_here
from fakempi.threads.types import Changed

try:
    import greenlet as module

    import fakempi.kernel.greenlets  # noqa: F401  before a run, since it is to have the class as it is
except ImportError:  # it is an extra
    module = None  # type: ignore[assignment]


class OwnGreenlets:
    """What is changed in the package greenlet while runs go on; `watch` makes a loop look who asks."""

    def __init__(self, watch: Callable[[Any], None]) -> None:
        self.changed: list[Changed] = []
        self.modules: set[str] = set()  # that have been looked at
        self.used = False
        if module is None:
            return
        original = module.greenlet.switch

        def switch(greenlet: Any, *args: Any, **kwargs: Any) -> Any:
            task = task_here()
            if task is not None:
                watch(task.agenda)
            return original(greenlet, *args, **kwargs)

        own = type("greenlet", (module.greenlet,), {"switch": switch})
        self.name, self.kind = Changed(module, {"greenlet": own}), Changed(module.greenlet, {"switch": switch})

    def change(self) -> None:
        """A run begins."""
        if module is not None:
            self.used = self.used or self._is_used()
            self.changed = [self.kind] if self.used else [self.name]
        for one in self.changed:
            one.change()

    def restore(self) -> None:
        """None goes on any more."""
        for one in self.changed:
            one.restore()

    def _is_used(self) -> bool:
        """Whether a module of the program's has the class, or the package: those that are new are looked at."""
        if len(sys.modules) == len(self.modules):
            return False
        new = [name for name in set(sys.modules) - self.modules if name.partition(".")[0] not in ("fakempi", "greenlet")]
        self.modules = set(sys.modules)
        kinds = [list(getattr(sys.modules.get(name), "__dict__", {}).values()) for name in new]
        return any(value is module or value is module.greenlet for values in kinds for value in values)


def check(task: Any) -> None:
    """Complain if it is not the task's own greenlet that asks."""
    if module is None or task is not task_here() or hasattr(task.handle, "ident"):
        return
    if module.getcurrent() is not task.handle:
        raise complaint(
            ERR_OTHER,
            f"this is a greenlet that {task.owner.name} has started. Ranks are greenlets themselves here, and only the "
            "rank's own may call MPI: run(..., carrier='threads'), or let the rank start threads.",
        )
