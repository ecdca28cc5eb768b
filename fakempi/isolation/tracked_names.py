"""The resource tracker of `multiprocessing` while ranks share one process.

The tracker is a process that unlinks shared memory and semaphores which a program leaves behind. It keeps a set of names for
each process. Ranks as processes have a tracker each; ranks in one process have one tracker, which would forget a name when
the first rank unregisters it, and print a KeyError when the second one does. Here a name stays registered until each rank
that has registered it has unregistered it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.isolation.patches import Patches, RunningState


class TrackedNames:
    """Patches for `multiprocessing.resource_tracker`; `running_state` returns the state of the running rank."""

    def __init__(self, running_state: RunningState, patches: Patches) -> None:
        self.running_state, self.patches = running_state, patches
        self.holders: dict[tuple[str, str], set[int]] = {}  # (name, kind of resource) -> ranks that have registered it
        self.hooks = {"multiprocessing.resource_tracker": self._resource_tracker}

    def _resource_tracker(self, module: Any) -> None:
        # Other modules bind the functions of this module when they register a name, so these two replacements suffice.
        self.patches.set(module, "register", self._registering(module.register))
        self.patches.set(module, "unregister", self._unregistering(module.unregister))

    def _registering(self, original: Callable[[str, str], None]) -> Callable[[str, str], None]:
        def register(name: str, rtype: str) -> None:
            original(name, rtype)
            state = self.running_state()
            if state is not None:
                self.holders.setdefault((name, rtype), set()).add(state.number)

        return register

    def _unregistering(self, original: Callable[[str, str], None]) -> Callable[[str, str], None]:
        def unregister(name: str, rtype: str) -> None:
            state, holders = self.running_state(), self.holders.get((name, rtype))
            if holders is None:  # registered before the run or by a child of a rank
                original(name, rtype)
            elif state is None or len(holders) == 1:  # the finalizer of one rank's object may run on another rank
                holders.clear()
                original(name, rtype)
            else:
                holders.discard(state.number)

        return unregister
