"""Recipes: the part of a prepared collective call that does not depend on the rank or the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.region import CallRegion
from fakempi.mpi.collective.call_facts import Declaration
from fakempi.mpi.point.handle import CommState


class Recipe:
    """The facts for call matching, the algorithm with its options, and its program for fused calls.

    A call that is repeated on the same line reuses it (see `repeated`).
    """

    __slots__ = (
        "call", "choice", "code", "declared", "first", "instruction", "lists", "name", "nbytes", "op", "operation",
        "options", "place", "program", "trace_call",
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
        # if calls from one line reuse it: the name of the call, which may be a part of the public call, and its line
        self.name, self.instruction = "", -1
        self.code: Any = None
        self.first: Any = None  # the arguments of the first rank (`forms.FirstArguments`)

    @property
    def moves(self) -> Any:
        """The dtype of data that the algorithm only moves, as bytes; None if it is unknown, or if they are combined."""
        return None if self.first is None else self.first.moves

    def run(
        self, comm: Any, comms: tuple[Any, ...] | None, entry: Any, tag: int, arrays: tuple[object, ...],
        barrier: Callable[[], object] | None = None,
    ) -> None:  # fmt: skip
        """Simulate the call by its program if possible; otherwise run the algorithm, after a barrier if there is one.

        `comms` are the communicators of collective contexts; None if the rank has not needed them yet.
        """
        if (
            entry is not None and (program := self.program) is not None
            and comm._process.universe.fused.enter(comm, comms, entry, program, self.op, tag, arrays)
        ):  # fmt: skip
            return
        if barrier is not None:
            barrier()
        self.choice.on(comms or comm._collective_comms(), tag=tag, **self.options)(*arrays)

    def run_in_region(self, comm: CommState, entry: Any, tag: int, arrays: tuple[object, ...]) -> None:
        """Run a repeated call in a region of the trace."""
        region: Any = self.region(comm, self.nbytes)
        region.run(self.run, comm, comm._collective_handles, entry, tag, arrays)

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
