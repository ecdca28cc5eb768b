"""Recipes: the part of a prepared collective call that does not depend on the rank or the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.region import CallRegion
from fakempi.mpi.collective.call_facts import Declaration
from fakempi.mpi.point.handle import CommState


class Recipe:
    """The facts for call matching, the algorithm with its options, and its program for fused calls.

    A call that is repeated on the same line reuses it (see `cached_calls`).
    """

    __slots__ = (
        "call", "choice", "declared", "keepalive", "lists", "nbytes", "op", "operation", "options", "place", "program",
        "trace_call",
    )  # fmt: skip

    def __init__(
        self, call: str, declared: Declaration, operation: str, nbytes: int, choice: Any, options: dict[str, Any],
        program: object | None,
    ) -> None:  # fmt: skip
        self.call, self.declared = call, declared  # for call matching
        self.choice, self.options = choice, options  # the algorithm, its operation and its root
        self.op = options.get("op")
        self.operation, self.nbytes = operation, nbytes  # for the trace
        self.trace_call = 0  # number of the call in the trace; 0 until it is known
        self.place = ""
        self.lists: tuple[object, ...] = ()  # block sizes, passed to the algorithm after the buffers
        self.program = program  # for fused calls
        self.keepalive: object = None  # objects whose addresses are in the key

    def run(
        self, comms: tuple[Any, ...], entry: Any, tag: int, arrays: tuple[object, ...],
        barrier: Callable[[], object] | None = None,
    ) -> None:  # fmt: skip
        """Simulate the call by its program if possible; otherwise run the algorithm, after a barrier if there is one."""
        program = self.program
        if program is not None and entry is not None:
            fused = comms[0]._process.universe.fused
            if fused.enter(comms[0], comms, entry, program, self.op, tag, arrays):
                return
        if barrier is not None:
            barrier()
        self.run_code(comms, tag, arrays)

    def run_code(self, comms: tuple[Any, ...], tag: int, arrays: tuple[object, ...]) -> None:
        """Run the code of the algorithm."""
        self.choice.on(comms, tag=tag, **self.options)(*arrays)

    def region(self, comm: CommState, nbytes: int, root: int | None = None) -> CallRegion | None:
        """Return the region of the call in the trace; None without a trace. Calls from one line have one number."""
        recorder = comm._process.universe.recorder
        if recorder is None:
            return None
        self.trace_call = self.trace_call or recorder.call()
        name = self.choice.algorithm.name
        return CallRegion(comm, self.operation, algorithm=name, nbytes=nbytes, root=root, call=self.trace_call)


class Start:
    """One start of a persistent call, in place of a `CallEntry`: the n-th starts of all ranks are one call.

    A start refers to the next one, not to earlier ones, so that their data are freed.
    """

    __slots__ = ("call", "fused", "next")

    def __init__(self, call: str) -> None:
        self.call = call
        self.fused: object = None  # as in a `CallEntry`
        self.next: Start | None = None
