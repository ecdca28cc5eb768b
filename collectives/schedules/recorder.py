"""Objects that an algorithm's code receives while it is recorded: buffers, an op, a communicator, and requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn

import numpy as np

from collectives.catalogue.algorithm import Case, UnsupportedCaseError
from collectives.schedules.step import Range, Step


class StepRecorder:
    """The steps of one rank, and the frontier: the latest completed steps, on which the next one depends."""

    def __init__(self, rank: int, case: Case, first: Literal["send", "recv"] = "send") -> None:
        self.rank, self.case, self.first = rank, case, first
        self.has_chosen = False  # whether a Waitany completed one of several requests: a step of the kind `first`
        self.steps: list[Step] = []
        self.sizes: dict[str, int] = {}
        self.frontier: tuple[int, ...] = ()
        self.pending: set[int] = set()

    def buffer(self, name: str, size: int) -> RecordingBuffer:
        """Return a new buffer of `size` elements."""
        self.sizes[name] = size * self.case.itemsize
        return RecordingBuffer(self, name, 0, size)

    def add(self, step: Callable[..., Step], **fields: Any) -> int:
        """Append a step that starts after all ended steps, and after the start of the previous step."""
        index = len(self.steps)
        started = () if index == 0 or index - 1 in self.frontier else (index - 1,)
        self.steps.append(step(**fields, after=self.frontier, after_start=started))
        return index

    def complete(self, indices: Sequence[int]) -> None:
        """Let the following steps start after these, and after those that ended before."""
        self.pending.difference_update(indices)
        ended = {*self.frontier, *indices}
        implied = {before for index in ended for before in self.steps[index].after}
        self.frontier = tuple(sorted(ended - implied))  # a dependency on the later step implies the earlier one


class RecordingBuffer:
    """A buffer with a location but no contents: slices have their location, and assignments are recorded as copies."""

    def __init__(self, recorder: StepRecorder, name: str, start: int, size: int) -> None:
        self._recorder, self._name, self._start = recorder, name, start
        self.size, self.itemsize = size, recorder.case.itemsize
        self.nbytes = size * self.itemsize

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> RecordingBuffer:
        start, stop, step = part.indices(self.size)
        if step != 1:
            raise UnsupportedCaseError("an algorithm that uses slices with a step cannot be recorded")
        return RecordingBuffer(self._recorder, self._name, self._start + start, max(0, stop - start))

    def __setitem__(self, part: slice, value: Any) -> None:
        target = self[part]
        if not isinstance(value, RecordingBuffer):
            raise UnsupportedCaseError("an algorithm that writes values into its buffers cannot be recorded")
        if target.size != value.size:
            raise ValueError(f"cannot copy {value.size} elements into {target.size}")
        if target.size and target.range != value.range:
            recorder = self._recorder
            recorder.complete([recorder.add(Step, kind="copy", source=value.range, target=target.range)])

    @property
    def range(self) -> Range:
        """The place in bytes."""
        return Range(self._name, self._start * self.itemsize, self.nbytes)

    def empty(self, size: int) -> RecordingBuffer:
        """Return new scratch memory."""
        return self._recorder.buffer(f"scratch{len(self._recorder.sizes)}", size)


class RecordingOp:
    """A reduction operation that records its operands."""

    def __init__(self, recorder: StepRecorder) -> None:
        self._recorder = recorder

    def Reduce_local(self, inbuf: Any, inoutbuf: Any, /) -> None:
        source, target = _range(inbuf), _range(inoutbuf)
        self._recorder.complete([self._recorder.add(Step, kind="reduce", source=source, target=target)])

    def Is_commutative(self) -> bool:
        return self._recorder.case.commutative


def _range(buffer: Any) -> Range | None:
    """Return the place of a buffer; None for an empty message without one."""
    if isinstance(buffer, RecordingBuffer):
        return buffer.range
    if isinstance(buffer, np.ndarray) and not buffer.size:
        return None
    raise UnsupportedCaseError(
        "an algorithm that sends, receives or reduces data outside its buffers (such as block sizes) cannot be recorded"
    )


class RecordingRequest:
    """A pending step."""

    def __init__(self, recorder: StepRecorder, index: int) -> None:
        self.recorder, self.index = recorder, index

    def Wait(self) -> None:
        self.recorder.complete([self.index])

    @classmethod
    def Waitall(cls, requests: Sequence[Any], /) -> None:
        if requests:
            requests[0].recorder.complete([request.index for request in requests])

    @classmethod
    def Waitany(cls, requests: Sequence[Any], /) -> int:
        recorder = requests[0].recorder
        kinds = [recorder.steps[request.index].kind for request in requests]
        done = kinds.index(recorder.first) if recorder.first in kinds else 0
        recorder.has_chosen = recorder.has_chosen or len(requests) > 1
        requests[done].Wait()
        return done


class RecordingComm:
    """A communicator of one rank that records messages, from a group of processes to itself or to another one."""

    def __init__(self, recorder: StepRecorder, group: range, partners: range) -> None:
        self._recorder, self._group, self._partners = recorder, group, partners

    def Get_rank(self) -> int:
        return self._group.index(self._recorder.rank)

    def Get_size(self) -> int:
        return len(self._group)

    def Isend(self, buf: Any, dest: int, tag: int, /) -> RecordingRequest:
        return self._begin(kind="send", peer=dest, tag=tag, source=_range(buf))

    def Irecv(self, buf: Any, source: int, tag: int, /) -> RecordingRequest:
        return self._begin(kind="recv", peer=source, tag=tag, target=_range(buf))

    def _begin(self, *, peer: int, **fields: Any) -> RecordingRequest:
        if peer < 0:
            raise UnsupportedCaseError("an algorithm that uses ANY_SOURCE or PROC_NULL cannot be recorded")
        index = self._recorder.add(Step, peer=self._partners[peer], **fields)
        self._recorder.pending.add(index)
        return RecordingRequest(self._recorder, index)

    def Send(self, buf: Any, dest: int, tag: int, /) -> None:
        self.Isend(buf, dest, tag).Wait()

    def Recv(self, buf: Any, source: int, tag: int, /) -> None:
        self.Irecv(buf, source, tag).Wait()

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> None:
        RecordingRequest.Waitall([self.Isend(sendbuf, dest, sendtag), self.Irecv(recvbuf, source, recvtag)])

    Ssend, Issend = Send, Isend

    def __getattr__(self, name: str) -> NoReturn:
        raise UnsupportedCaseError(f"an algorithm that calls {name} cannot be recorded")


class RecordingIntercomm(RecordingComm):
    """A communicator between two groups that records messages."""

    def Get_remote_size(self) -> int:
        return len(self._partners)
