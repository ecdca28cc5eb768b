"""Executor: the steps of one rank on a communicator."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from collectives.patterns.pairs.blocks import copy_own_block, is_plain
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range, Step
from collectives.tools.blocks import copy_of, spare_memory
from collectives.tools.protocol import Comm, Op, Request

NO_DATA = np.empty(0, np.uint8)

Observer = Callable[[int, bool], object]
"""Receives the index of a step, and False at its start or True at its end."""


class Executor:
    """The execution of one rank's steps: each step starts when its dependencies allow it, in list order."""

    def __init__(
        self,
        schedule: Schedule,
        comm: Comm,
        buffers: Mapping[str, Any],
        op: Op | None,
        tag: int = 0,
        scale: Fraction = Fraction(1),
        observer: Observer | None = None,
        clock: object = None,
    ) -> None:
        self._clock = comm if clock is None else clock
        self._comm, self._op, self._tag, self._observer = comm, op, tag, observer
        self._buffered = schedule.buffering == "infinite"
        self._buffers, self._schedule = dict(buffers), schedule
        self._scale = scale
        self._rank = comm.Get_rank()
        self._steps = schedule.steps[self._rank]
        self._waiting = [len({*step.after}) + len({*step.after_start}) for step in self._steps]
        self._on_end: list[list[int]] = [[] for _ in self._steps]
        self._on_start: list[list[int]] = [[] for _ in self._steps]
        for index, step in enumerate(self._steps):
            for before in {*step.after}:
                self._on_end[before].append(index)
            for before in {*step.after_start}:
                self._on_start[before].append(index)
        self._ready = deque(index for index, count in enumerate(self._waiting) if not count)
        self._requests: list[Request] = []
        self._pending: list[int] = []

    def run(self) -> None:
        """Execute all steps."""
        while self._ready or self._requests:
            while self._ready:
                self._start(self._ready.popleft())
            if self._requests:
                position = 0 if len(self._requests) == 1 else type(self._requests[0]).Waitany(self._requests)
                if len(self._requests) == 1:
                    self._requests[0].Wait()
                self._requests.pop(position)
                index = self._pending.pop(position)
                if index >= 0:
                    self._end(index)

    def _start(self, index: int) -> None:
        step = self._steps[index]
        if self._observer:
            self._observer(index, False)
        self._release(self._on_start[index])
        if step.kind == "send":
            part = self.part(step.source)
            buffered = copy_of(part) if self._buffered and is_plain(part) and part.size else part
            self._requests.append(self._comm.Isend(buffered, step.peer, self._tag + step.tag))
            self._pending.append(-1 if self._buffered else index)
            if self._buffered:
                self._end(index)
        elif step.kind == "recv":
            self._requests.append(self._comm.Irecv(self.part(step.target), step.peer, self._tag + step.tag))
            self._pending.append(index)
        else:
            self._local(index, step)

    def _local(self, index: int, step: Step) -> None:
        """Execute a local step, which ends before another one starts."""
        self._execute(step)
        self._end(index)

    def _end(self, index: int) -> None:
        if self._observer:
            self._observer(index, True)
        self._release(self._on_end[index])

    def _execute(self, step: Step) -> None:
        if step.kind == "compute":
            if step.seconds:  # modeled time on a communicator of the emulator, real time on others
                getattr(self._clock, "_compute", time.sleep)(step.seconds)
        elif step.kind == "copy":
            copy_own_block(self._comm, self.part(step.source), self.part(step.target), self._tag)
        elif self._op is not None:
            self._op.Reduce_local(self.part(step.source), self.part(step.target))

    def _release(self, indices: list[int]) -> None:
        for index in indices:
            self._waiting[index] -= 1
            if not self._waiting[index]:
                self._ready.append(index)

    def part(self, span: Range | None) -> Any:
        """The memory of a range."""
        if span is None:
            return NO_DATA
        if span.buffer == UNKNOWN:
            like = next(iter(self._buffers.values()), NO_DATA)
            return spare_memory(like, span.nbytes // like.itemsize)
        buffer = self._buffers.get(span.buffer)
        if buffer is None:
            like = next(iter(self._buffers.values()), NO_DATA)
            size = self._schedule.buffers[self._rank][span.buffer]
            buffer = self._buffers[span.buffer] = spare_memory(like, int(size * self._scale) // like.itemsize)
        start, stop = (int(offset * self._scale) // buffer.itemsize for offset in (span.offset, span.stop))
        return buffer[start:stop]
