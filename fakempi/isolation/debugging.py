"""`breakpoint()` and pdb on any rank: the debugger gets the terminal, and its prompt names the rank.

The other ranks wait, because the rank being debugged stays the running rank. When it waits for a message, other ranks run
untraced.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.extensions.threads.state_switching import StateSwitcher
from fakempi.isolation.output import LineStream, StandardInput
from fakempi.isolation.patches import Patches, RunningState
from fakempi.mpi.base.current import current_name


class Debugging:
    """Patches for pdb."""

    def __init__(
        self,
        running_state: RunningState,
        patches: Patches,
        switcher: StateSwitcher,
        streams: tuple[StandardInput, LineStream],
    ) -> None:
        self.running_state, self.patches, self.switcher = running_state, patches, switcher
        self.input, self.out = streams
        self.hooks = {"pdb": self._pdb}
        self.before: Any = None  # the trace function before a debugger was started

    def _pdb(self, pdb: Any) -> None:
        debugger, breakpoint_class = pdb.Pdb, pdb.bdb.Breakpoint
        initialize, interact = debugger.__init__, debugger.interaction

        def remove() -> Callable[[], None] | None:
            trace = sys.gettrace()
            if not isinstance(getattr(trace, "__self__", None), debugger):
                return None
            sys.settrace(self.before)
            breakpoints = breakpoint_class.next, breakpoint_class.bplist, breakpoint_class.bpbynumber
            breakpoint_class.next, breakpoint_class.bplist, breakpoint_class.bpbynumber = 1, {}, [None]

            def restore() -> None:
                breakpoint_class.next, breakpoint_class.bplist, breakpoint_class.bpbynumber = breakpoints
                sys.settrace(trace)

            return restore

        @functools.wraps(initialize)
        def init(self_: Any, *args: Any, **kwargs: Any) -> None:
            initialize(self_, *args, **kwargs)
            name = None if self.running_state() is None else current_name()
            if name is not None:
                if not isinstance(getattr(sys.gettrace(), "__self__", None), debugger):
                    self.before = sys.gettrace()
                self_.prompt = f"(Pdb, {name}) "
                debugger._last_pdb_instance = None  # Python 3.13 would reuse it on another rank
                self_.skip = {*(self_.skip or ()), "fakempi.*", "collectives.*"}  # as for the real, compiled mpi4py
                self.switcher.add(remove)

        @functools.wraps(interact)
        def interaction(self_: Any, *args: Any, **kwargs: Any) -> Any:
            with self._terminal(self_):
                return interact(self_, *args, **kwargs)

        self.patches.set(debugger, "__init__", init)
        self.patches.set(debugger, "interaction", interaction)

    @contextmanager
    def _terminal(self, debugger: Any) -> Iterator[None]:
        """Install the real standard streams: prompts appear immediately, and any rank can read input."""
        state = self.running_state()
        if state is None or debugger.stdout is not self.out:
            yield
            return
        self.out.show(state)
        before = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = self.input.for_any_rank(), self.out.real
        debugger.stdout = self.out.real
        try:
            yield
        finally:
            self.out.real.flush()
            sys.stdin, sys.stdout = before
            debugger.stdout = self.out
