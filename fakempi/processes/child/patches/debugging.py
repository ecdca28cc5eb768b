"""`breakpoint()` and pdb on a rank without input: they are ignored, and a sentence names the option that debugs the rank."""

from __future__ import annotations

import functools
import os
import sys
from types import FrameType
from typing import Any

from fakempi.core.import_hooks import ImportHooks


def ignore_breakpoints(rank: int, hooks: ImportHooks) -> None:
    """Ignore `breakpoint()`, unless PYTHONBREAKPOINT is set, and `pdb.set_trace()`: without input, pdb would end the run."""

    def report(call: str, frame: FrameType) -> None:
        place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        sys.stderr.write(
            f"fakempi: {call} at {place} is ignored on rank {rank}, a process without a terminal: use --debug {rank}\n"
        )

    def breakpoint_hook(*_: Any, **__: Any) -> None:
        report("breakpoint()", sys._getframe(1))

    def change(pdb: Any) -> None:
        original = pdb.Pdb.set_trace

        @functools.wraps(original)
        def set_trace(self: Any, frame: FrameType | None = None, **more: Any) -> None:
            if self.stdin is not sys.__stdin__:  # a debugger with its own input
                original(self, frame, **more)
                return
            report("pdb.set_trace()", frame or sys._getframe(1))

        pdb.Pdb.set_trace = set_trace

    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = breakpoint_hook
    hooks.add("pdb", change)
