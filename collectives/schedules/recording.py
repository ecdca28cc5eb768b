"""Derive a schedule from an algorithm's code, by executing it for one rank after the other without data.

The buffers record slices, copies and reductions; the communicator records messages and completes each of them at once. An
algorithm whose messages depend on received data, on wildcards or on timing cannot be recorded, and is rejected. Between two
groups, rank i of A is rank i of the schedule, and rank j of B is rank p + j.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.inter_patterns.groups import process_numbers
from collectives.schedules.independent import common_order
from collectives.schedules.recorder import RecordingComm, RecordingIntercomm, RecordingOp, StepRecorder
from collectives.schedules.schedule import Schedule
from collectives.schedules.work import check_recording
from collectives.tools.blocks import Layout
from collectives.trials.calls import REDUCING, ROOTED, arguments

OPERATIONS: Final = {"barrier", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", *ROOTED, *REDUCING}
"""The operations whose algorithms can be recorded, within a group or between two."""

REASONS: Final = {
    "split": "its messages depend on the colors and keys",
    "chain": "its messages depend on the items that it sorts",
    "comm_creation": "it creates communicators and moves no buffers",
    "files": "it accesses a file",
}
"""Why algorithms of other kinds cannot be recorded."""


def record(algorithm: Algorithm, case: Case) -> Schedule:
    """Return the schedule of an algorithm for a case; UnsupportedCaseError if it cannot be recorded.

    Examples
    --------
    >>> from collectives import Case, find
    >>> schedule = record(find("bcast", "binomial"), Case(p=4, m=8))
    >>> [str(step) for step in schedule.steps[0]]
    ['send output[0:8] to rank 2, tag 0', 'send output[0:8] to rank 1, tag 0']
    """
    if algorithm.kind not in ("intra", "inter") or algorithm.operation not in OPERATIONS:
        reason = REASONS.get(algorithm.kind, "only collective operations on buffers have schedules")
        raise UnsupportedCaseError(f"{algorithm!r} cannot be recorded: {reason}")
    if (algorithm.kind == "inter") != (case.q > 0):
        needed = "two groups, with q > 0" if algorithm.kind == "inter" else "one group, with q = 0"
        raise UnsupportedCaseError(f"{algorithm!r} needs a case of {needed}, but q = {case.q}")
    if case.in_place:
        raise UnsupportedCaseError("a call in place cannot be recorded; record the call with two buffers")
    if not 0 <= case.root < case.p:
        raise UnsupportedCaseError(f"root {case.root} is not one of the {case.p} ranks")
    algorithm.check(case)
    check_recording(algorithm, case)
    recorders = [_recorded(StepRecorder(rank, case), algorithm) for rank in range(case.ranks)]
    one_buffer = algorithm.operation == "bcast" and not case.q
    return Schedule(
        ranks=case.ranks,
        steps=[recorder.steps for recorder in recorders],
        buffers=[recorder.sizes for recorder in recorders],
        aliases=[{"input": ("output", 0)} if "input" in r.sizes else {} for r in recorders] if one_buffer else (),
        name=f"{algorithm.operation} {algorithm.name}",
        operation=algorithm.operation,
        root=case.root,
        counts=_counts(case),
        commutative=case.commutative,
        groups=(case.p, case.q) if case.q else None,
    )


def _counts(case: Case) -> Sequence[int] | Sequence[Sequence[int]] | None:
    """Return block sizes in bytes where they may differ, of all ranks of A and then of B."""
    if case.traffic is not None:
        return [[count * case.itemsize for count in row] for row in (*case.traffic, *(case.traffic_b or ()))]
    if case.counts is None and case.counts_b is None:
        return None
    counts = (*(case.counts or (0,) * case.p), *(case.counts_b or ()))
    return [count * case.itemsize for count in counts]


def _recorded(recorder: StepRecorder, algorithm: Algorithm) -> StepRecorder:
    """Return the recorder after the execution, without an order of independent messages."""
    _execute(recorder, algorithm)
    if recorder.has_chosen:
        other = StepRecorder(recorder.rank, recorder.case, "recv")
        _execute(other, algorithm)
        recorder.steps = common_order(recorder.steps, other.steps)
    return recorder


def _execute(recorder: StepRecorder, algorithm: Algorithm) -> None:
    """Execute the algorithm's code for this rank."""
    case, rank = recorder.case, recorder.rank
    names = buffer_names(algorithm.operation, case.q > 0, rank == case.root)
    if algorithm.operation == "bcast" and not case.q and rank == case.root:
        recorder.sizes["input"] = case.m
    sizes, keywords = arguments(algorithm.operation, case, rank, _Elements, RecordingOp(recorder))
    args = [_buffer(recorder, name, size) for name, size in zip(names, sizes, strict=False)] + sizes[len(names) :]
    groups = process_numbers(case)
    comms: tuple[RecordingComm, ...] = (RecordingComm(recorder, groups[0], groups[0]),)
    if case.q:
        own, other = groups if rank in groups[0] else groups[::-1]
        comms = (RecordingIntercomm(recorder, own, other), RecordingComm(recorder, own, own))
    algorithm.run(*comms, *args, **keywords)
    if recorder.pending:
        raise UnsupportedCaseError(f"{algorithm!r} ends on rank {rank} with {len(recorder.pending)} pending requests")


def buffer_names(operation: str, between_groups: bool, is_root: bool) -> tuple[str, ...]:
    """Return the names of the buffers that a rank passes, in the order of the arguments."""
    if operation != "bcast":
        return "input", "output"
    return ("input",) if between_groups and is_root else ("output",)


class _Elements(int):
    """The number of elements of a buffer."""


def _buffer(recorder: StepRecorder, name: str, size: Any) -> Any:
    """Return a new buffer of a size, or its blocks if there is a list of sizes (alltoallw); None if there is no buffer."""
    if isinstance(size, _Elements):
        return recorder.buffer(name, size)
    if isinstance(size, list):
        layout = Layout.of(size)
        whole = recorder.buffer(name, sum(size))
        return [layout.block(whole, other) for other in range(layout.p)]
    return size
