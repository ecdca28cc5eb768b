"""Fitting: which calls a schedule fits, and how many bytes of a call correspond to a byte of the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from collectives.catalogue.algorithm import Case, UnsupportedCaseError
from collectives.inter_patterns.groups import UNDECIDED
from collectives.schedules.recording import buffer_names
from collectives.schedules.schedule import Schedule
from collectives.tools.plurals import counted
from collectives.tools.protocol import Buffer
from collectives.trials.calls import ROOTED, arguments
from collectives.trials.cases import PAIRED, UNEVEN


class Fitting:
    """The calls that a schedule fits: its numbers of ranks, its root, and sizes in the proportions of its buffers."""

    def __init__(self, schedule: Schedule, operation: str, chunk: int) -> None:
        self._schedule, self._operation, self._chunk = schedule, operation, chunk
        self._symmetric = _is_symmetric(schedule)

    def check(self, case: Case) -> None:
        """Raise UnsupportedCaseError if the schedule does not fit a case."""
        if reason := self.misfit(case):
            raise UnsupportedCaseError(f"{self._schedule.name or self._operation}: {reason}")

    def misfit(self, case: Case) -> str | None:
        """Return why the schedule does not fit a case, or None. Sizes of 0 mean that they are not known."""
        schedule = self._schedule
        if reason := self._wrong_ranks(case):
            return reason
        if case.root != schedule.root:
            return f"the schedule has root {schedule.root}, not {case.root}"
        if case.in_place:
            return "a schedule needs separate send and receive buffers"
        if not case.commutative and schedule.commutative:
            return "the op is not commutative, but the schedule does not state that it combines in rank order"
        sizes = (case.m, case.m_b, case.counts, case.counts_b, case.traffic)
        scale = self.scale_of(case) if any(sizes) else None
        return scale if isinstance(scale, str) else None

    def _wrong_ranks(self, case: Case) -> str | None:
        schedule = self._schedule
        if schedule.groups is None:
            return None if case.p == schedule.ranks else f"the schedule is for {schedule.ranks} ranks, not {case.p}"
        p, q = schedule.groups
        orders = [(p, q)] if self._operation in ROOTED else [(p, q), (q, p)]
        if (case.p, case.q) not in orders:
            return f"the schedule is for groups of {p} and {q} ranks, not {case.p} and {case.q}"
        if p == q and len(orders) > 1 and not self._symmetric and case.parameters.get("first") is None:
            return UNDECIDED.format(p=p).replace(" and the same amount of data", "")
        return None

    def is_first(self, own: int, other: int, first: bool | None) -> bool:
        """Whether a group of `own` ranks has the role of group A; `first` decides between groups of equal size."""
        assert self._schedule.groups is not None
        if own != other:
            return (own, other) == self._schedule.groups
        return self._symmetric or first is not False

    def is_swapped(self, case: Case) -> bool:
        """Whether group A of a case has the role of group B."""
        first = case.parameters.get("first")
        return case.q > 0 and self._operation not in ROOTED and not self.is_first(case.p, case.q, first)

    def scale_of(self, case: Case) -> Fraction | str | None:
        """Return bytes of a case per byte of the schedule, or why no such ratio exists; None if the case has no sizes.

        Blocks of an alltoallw may have any sizes, so its scale is None, too.
        """
        if self._operation in (*UNEVEN, *PAIRED) and not (case.counts or case.counts_b or case.traffic):
            return None
        if self.is_swapped(case):
            case = replace(
                case, p=case.q, m=case.m_b, counts=case.counts_b, traffic=case.traffic_b, q=case.p, m_b=case.m,
                counts_b=case.counts, traffic_b=case.traffic,
            )  # fmt: skip
        scale: Fraction | None = None
        for rank in range(self._schedule.ranks):
            sizes, _ = arguments(self._operation, case, rank, lambda elements: elements * case.itemsize, None)
            named = {name: size for name, size in zip(self.names(rank), sizes, strict=False) if size is not None}
            if self._operation == "alltoallw":
                reason = self._other_blocks(rank, named)
            else:
                scale, reason = self._scale(rank, {name: (size, case.itemsize) for name, size in named.items()}, scale)
            if reason:
                return reason
        return Fraction(1) if scale is None and self._operation != "alltoallw" else scale

    def names(self, rank: int) -> tuple[str, ...]:
        """The names of the buffers that a rank passes."""
        return buffer_names(self._operation, self._schedule.groups is not None, rank == self._schedule.root)

    def scale(self, rank: int, buffers: Mapping[str, Buffer]) -> Fraction:
        """Return bytes of a call per byte of the schedule; ValueError if the buffers have other proportions."""
        sizes = {name: (buffer.nbytes, buffer.itemsize) for name, buffer in buffers.items()}
        scale, reason = self._scale(rank, sizes, None)
        if reason:
            raise ValueError(reason)
        return Fraction(1) if scale is None else scale

    def _scale(
        self, rank: int, sizes: Mapping[str, tuple[int, int]], scale: Fraction | None
    ) -> tuple[Fraction | None, str | None]:
        """Return the scale and None, or the reason why the buffers have no common scale.

        `sizes` has (bytes, bytes of an element) by name, and `scale` is that of buffers checked before, if any.
        """
        for name, (nbytes, itemsize) in sizes.items():
            size = self._schedule.buffers[rank].get(name, 0)
            each = Fraction(nbytes, size) if size else scale
            if (not size and nbytes) or (scale is not None and each != scale):
                expected = f"{size} bytes" if scale in (None, 1) else f"{size} bytes times {scale}"
                return scale, f"rank {rank}: {name} has {nbytes} bytes, but the schedule is for {expected}"
            if each is not None and self._chunk * each % itemsize:
                return scale, (
                    f"rank {rank}: the schedule cuts {name} into chunks of {self._chunk} of its {size} bytes, which does "
                    f"not divide {nbytes} bytes into whole elements of {counted(itemsize, 'byte')}"
                )
            scale = each
        return scale, None

    def _other_blocks(self, rank: int, blocks: Mapping[str, list[int]]) -> str | None:
        """Return a reason unless exactly the blocks that are empty in the schedule are empty; others may have any size."""
        for name, sizes in blocks.items():
            for other, (nbytes, expected) in enumerate(zip(sizes, self.block_sizes(rank, name), strict=True)):
                if (not nbytes) != (not expected):
                    return f"rank {rank}: block {other} of {name} has {nbytes} bytes, but the schedule is for {expected}"
        return None

    def block_sizes(self, rank: int, name: str) -> list[int]:
        """The sizes of a rank's blocks to, or from, each rank of its partners: the other group, or the only one."""
        rows: Any = self._schedule.counts
        own, other = self._schedule.sides(rank)
        return list(rows[rank]) if name == "input" else [rows[source][rank - own.start] for source in other]


def _is_symmetric(schedule: Schedule) -> bool:
    """Whether both groups do the same, so that either of them may have the role of group A."""
    if schedule.groups is None or schedule.groups[0] != schedule.groups[1]:
        return False
    p, ranks = schedule.groups[0], schedule.ranks

    def swapped(rank: int) -> list[Any]:
        return [replace(step, peer=(step.peer + p) % ranks if step.peer >= 0 else -1) for step in schedule.steps[rank]]

    return all(
        list(schedule.steps[rank]) == swapped(rank + p) and schedule.buffers[rank] == schedule.buffers[rank + p]
        for rank in range(p)
    )
