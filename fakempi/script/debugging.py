"""`breakpoint()` and pdb on any rank: it gets the terminal, its prompt names it, and all others wait.

They wait because the rank keeps the baton. When it goes on and has to wait for a message, others run, and its debugger does
not look at them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.mpi.base.current import current_name
from fakempi.script.output import Input, Lines
from fakempi.script.patches import Patches, Who
from fakempi.script.turns import Turns


class Debugging:
    """What pdb finds while scripts run."""

    def __init__(self, rank: Who, patches: Patches, turns: Turns, streams: tuple[Input, Lines]) -> None:
        self.rank, self.patches, self.turns = rank, patches, turns
        self.input, self.out = streams
        self.hooks = {"pdb": self._pdb}
        self.before: Any = None  # what traced the thread before a debugger did

    def _pdb(self, pdb: Any) -> None:
        debugger, points = pdb.Pdb, pdb.bdb.Breakpoint
        initialize, interact = debugger.__init__, debugger.interaction

        def put_away() -> Callable[[], None] | None:
            trace = sys.gettrace()
            if not isinstance(getattr(trace, "__self__", None), debugger):
                return None
            sys.settrace(self.before)
            breakpoints = points.next, points.bplist, points.bpbynumber
            points.next, points.bplist, points.bpbynumber = 1, {}, [None]

            def lay_out() -> None:
                points.next, points.bplist, points.bpbynumber = breakpoints
                sys.settrace(trace)

            return lay_out

        @functools.wraps(initialize)
        def init(self_: Any, *args: Any, **kwargs: Any) -> None:
            initialize(self_, *args, **kwargs)
            name = None if self.rank() is None else current_name()
            if name is not None:
                if not isinstance(getattr(sys.gettrace(), "__self__", None), debugger):
                    self.before = sys.gettrace()
                self_.prompt = f"(Pdb, {name}) "
                debugger._last_pdb_instance = None  # or Python 3.13 would use it for another rank
                self_.skip = {*(self_.skip or ()), "fakempi.*", "collectives.*"}  # mpi4py is compiled: one steps over it
                self.turns.keep(put_away)

        @functools.wraps(interact)
        def interaction(self_: Any, *args: Any, **kwargs: Any) -> Any:
            with self._terminal(self_):
                return interact(self_, *args, **kwargs)

        self.patches.set(debugger, "__init__", init)
        self.patches.set(debugger, "interaction", interaction)

    @contextmanager
    def _terminal(self, debugger: Any) -> Iterator[None]:
        """Standard streams as they are outside: a prompt is seen before its line has an end, and any rank is answered."""
        place = self.rank()
        if place is None or debugger.stdout is not self.out:
            yield
            return
        self.out.show(place)
        before = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = self.input.whoever_reads(), self.out.real
        debugger.stdout = self.out.real
        try:
            yield
        finally:
            sys.stdin, sys.stdout = before
            debugger.stdout = self.out
