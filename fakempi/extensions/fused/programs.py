"""Programs: the schedule of an algorithm for one call, as arrays by round and as a list of steps for each rank.

A step is the part of a rank in one round: it posts its receive, then its send, waits for both and combines the data that
it has received. In a `LinearPhase` it posts all its receives and sends at once; in `Streams` it sends in one order and
receives in another. If a rank knows only the sizes of its own blocks, the schedule is that of blocks of one byte;
`sized_steps` replaces these sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.mpi.collective.block_sizes import BlockSizes, SizedMessages
from fakempi.mpi.collective.fused_case import SYNCHRONIZING, FusedCase

Ints = npt.NDArray[np.int64]

FEWEST_MESSAGES = 16  # on average in a round: a round in arrays takes as long as 16 messages one by one (Bcast, 128 ranks)
MOST_UNDETERMINED = 8  # after more calls in a row whose outcome the arrays did not determine, ranks no longer wait
MOST_STORED = 1 << 21  # upper limit of the transfers of a stored schedule; a longer one is generated again for each call
MOST_ENTRIES = 1 << 23  # of stored rounds, one for each rank: 32 bytes; other rounds are made from their transfers each time
MOST_STEPS = (7 << 30) // 224  # messages of a schedule whose steps are listed: 7 GiB (`ring`, 1,024 ranks: 205 bytes each)


class Round(NamedTuple):
    """Arrays by rank: source and destination (or -1), bytes sent, and bytes of each combination in turn."""

    source: Ints
    dest: Ints
    nbytes: int | Ints  # an int if it is the same for all ranks
    combined: tuple[int | Ints, ...]
    active: Ints | slice  # the ranks that take part; a slice if all do
    senders: Ints  # of each message
    receivers: Ints

    def message_bytes(self) -> int | Ints:
        """Return the bytes of each message; an int if they are equal."""
        return self.nbytes[self.senders] if isinstance(self.nbytes, np.ndarray) else self.nbytes


class RoundStep(NamedTuple):
    """The part of a rank in one round: its entries of a `Round`."""

    source: int
    dest: int
    nbytes: int
    combined: tuple[int, ...]  # bytes of each combination


class ConcurrentStep(NamedTuple):
    """The part of a rank in a `LinearPhase`, `NonblockingRound` or `Streams`: several receives and several sends."""

    sources: tuple[int, ...]
    sends: tuple[tuple[int, int], ...]  # destination and bytes
    synchronous: bool = False  # whether sends of any size wait for their receives
    in_streams: bool = False  # whether the rank posts one after the other, in two independent orders, or all at once
    combined: tuple[int, ...] = ()


Steps = Sequence[RoundStep | ConcurrentStep]


class SchedulePhase(NamedTuple):
    """A phase of a schedule: its transfers, an array with a row for each field; if all are one round, also the `Round`."""

    transfers: Ints
    round: Any
    synchronous: bool
    received: Sequence[tuple[int, int]]  # of `Streams`: source and destination, in the order of receives


NOT_STORED = object()
"""The round of a stored phase that is made again from the transfers each time."""


class ScheduleArrays:
    """The schedule of an algorithm. `generate()` returns its phases, like `Choice.phases` of `fakempi.tuning`."""

    def __init__(self, p: int, generate: Callable[[], Iterable[tuple[Any, ...]]]) -> None:
        self.p, self.generate = p, generate
        self.why_not = ""  # why it cannot be used
        self._steps: list[list[Any]] = []  # by rank, once they are known
        stored, total = list[SchedulePhase](), 0
        try:
            for phase in self._arrays():
                is_kept = phase.round is None or p * (len(stored) + 1) <= MOST_ENTRIES
                stored.append(phase if is_kept else phase._replace(round=NOT_STORED))
                total += phase.transfers.shape[1]
                if total > MOST_STORED:
                    break
        except ValueError as error:  # an UnsupportedCaseError
            self.why_not, total = str(error), MOST_STORED + 1  # so that `phases` raises the error again
        self._stored = stored if total <= MOST_STORED else None
        self.has_rounds_stored = self._stored is not None and p * len(stored) <= MOST_ENTRIES
        self.messages_per_phase = total / max(len(stored), 1)
        self.lengths = [phase.transfers.shape[1] for phase in stored]  # of all phases, or if they are too long of the first
        self.has_rounds_only = bool(stored) and all(each.round is not None for each in stored)

    def phases(self) -> Iterator[SchedulePhase]:
        """The phases of the schedule that have transfers."""
        if self._stored is None:
            return self._arrays()
        if self.has_rounds_stored:
            return iter(self._stored)
        return (
            each._replace(round=self._round(each.transfers)) if each.round is NOT_STORED else each for each in self._stored
        )

    @cached_property
    def has_too_many_steps(self) -> bool:
        """Whether a list of all steps would need too much memory."""
        if self._stored is not None:
            return False
        return any(count > MOST_STEPS for count in accumulate(phase.transfers.shape[1] for phase in self._arrays()))

    def _arrays(self) -> Iterator[SchedulePhase]:
        for transfers, is_round, *how in self.generate():
            if transfers.size:
                yield SchedulePhase(transfers, self._round(transfers) if is_round else None, *how)

    def _round(self, transfers: Ints) -> Round:
        source, dest, nbytes, _, _, _, *combined = transfers
        columns = [(dest, source, -1), (source, dest, -1), (source, nbytes, 0), *((dest, each, 0) for each in combined)]
        fields, all_send = list[Any](), len(source) == self.p
        for ranks, values, default in columns:
            column = np.full(self.p, default)
            column[ranks] = values
            is_equal = default == 0 and all_send and values.min() == values.max()
            fields.append(int(values[0]) if is_equal else column)
        # `np.union1d` would import numpy.ma during the run
        active = slice(None) if all_send else np.flatnonzero((fields[0] >= 0) | (fields[1] >= 0))
        return Round(fields[0], fields[1], fields[2], tuple(fields[3:]), active, source, dest)

    def steps(self, rank: int) -> Steps:
        """The steps of a rank."""
        if not self._steps:
            self._steps = [[] for _ in range(self.p)]
            for phase in self.phases():
                if phase.round is None:
                    self._add_concurrent_steps(*phase)
                else:
                    add_steps(self._steps, phase.round)
        return self._steps[rank]

    def _add_concurrent_steps(self, transfers: Ints, _: None, synchronous: bool, received: Sequence[Any]) -> None:
        by_rank: dict[int, Any] = defaultdict(lambda: ([], [], []))  # by rank: sources, sends, bytes of each combination
        for source, dest, nbytes, _, _, _, *combined in transfers.T.tolist():
            by_rank[source][1].append((dest, nbytes))
            by_rank[dest][2][:] = filter(None, combined)  # in a round that combines, a rank receives once
        for source, dest in received or transfers[:2].T.tolist():
            by_rank[dest][0].append(source)
        for rank, (sources, sends, combined) in by_rank.items():
            step = ConcurrentStep(tuple(sources), tuple(sends), synchronous, bool(received), tuple(combined))
            self._steps[rank].append(_as_step(step))


class FusedProgram(ScheduleArrays):
    """The schedule of a fused call, and results of earlier calls that the next one can use."""

    def __init__(self, case: FusedCase, ranks: int = 0) -> None:
        """Make the program of a case, in a run of this number of ranks."""
        super().__init__(case.p + case.q, (lambda: ()) if case.why_not else case.schedule)
        self.case = case
        self.messages = SizedMessages(case)
        too_long = "its schedule is too long" if case.q and self._stored is None else ""  # and may have unsupported phases
        self.why_not = case.why_not or self.why_not or self.messages.why_not or too_long  # why calls are emulated
        self.reduction: Any = None  # the order of combining (`reductions.Reduction`), once it is known
        self.synchronizing = case.operation in SYNCHRONIZING and min(case.sizes or (1,)) > 0
        self.transfers_data = case.sized or any((case.sizes or (case.nbytes, case.nbytes_b)) + (case.sizes_b or ()))
        self.timed: Any = None  # its rounds with the costs of the run (`array_clocks.TimedRounds`), once they are known
        self.undetermined = 0  # calls in a row whose outcome the arrays did not determine
        self.in_arrays = self.has_rounds_only and not case.sized  # whether calls are computed in arrays if possible
        # Calls that several communicators of this size make at the same time are computed once.
        messages = self.messages_per_phase * max(1, ranks // self.p)
        self.in_arrays &= self.synchronizing or messages >= FEWEST_MESSAGES

    def count_undone(self) -> None:
        """Count a call for which ranks waited without use; the next one will probably not be computed in arrays, either."""
        self.undetermined += 1
        self.in_arrays = self.synchronizing and self.undetermined <= MOST_UNDETERMINED

    def sized_steps(self, rank: int, sizes: BlockSizes) -> Steps:
        """Return the steps of a rank with blocks of these sizes; empty blocks are not sent."""
        steps, first = self.steps(rank), self.messages.with_sizes[rank]
        if not self.case.sized:
            return steps
        found, (sends, receives) = [*steps[:first]], sizes.of(rank)
        for step in steps[first:]:
            if isinstance(step, ConcurrentStep):
                sources = tuple(source for source in step.sources if receives[source])
                posted = tuple((dest, sends[dest]) for dest, _ in step.sends if sends[dest])
                if sources or posted:
                    found.append(_as_step(step._replace(sources=sources, sends=posted)))
                continue
            source = step.source if step.source >= 0 and receives[step.source] else -1
            nbytes = sends[step.dest] if step.dest >= 0 else 0
            if source >= 0 or nbytes:
                found.append(RoundStep(source, step.dest if nbytes else -1, nbytes, ()))
        return found


def add_steps(steps: list[list[Any]], each: Round) -> None:
    """Add the steps of a round to the steps by rank."""
    p = len(steps)
    numbers = np.arange(p)[each.active].tolist()
    columns = [np.broadcast_to(column, p)[each.active].tolist() for column in (*each[:3], *each.combined)]
    combined = [tuple(filter(None, every)) for every in zip(*columns[3:], strict=True)] or [()] * len(numbers)
    for number, step in zip(numbers, map(RoundStep, *columns[:3], combined), strict=True):
        steps[number].append(step)


def _as_step(step: ConcurrentStep) -> RoundStep | ConcurrentStep:
    """Return a phase with a single message as a `RoundStep`, which is equivalent and takes less time to simulate."""
    if len(step.sources) + len(step.sends) > 1 or (step.synchronous and step.sends):
        return step
    return RoundStep(step.sources[0], -1, 0, step.combined) if step.sources else RoundStep(-1, *step.sends[0], ())
