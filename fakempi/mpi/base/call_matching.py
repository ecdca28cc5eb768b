"""Call matching: whether all ranks of a communicator make the same collective calls in the same order.

The k-th collective call of a rank on a communicator is the k-th of all its ranks. The first rank registers its call, and the
calls of the other ranks are compared with it. A rank that makes another call, or the same call with another root, count or
operation, gets an error that names both calls with file and line, before a message is sent. If the sizes differ between
pairs of ranks, the size that one rank sends must equal the size that the other rank expects. Errors name ranks by their
number in COMM_WORLD.

The two groups of an intercommunicator share one table. A rank declares the facts that it knows about either group. Each fact
is compared with the declaration of the first rank that knew it.

If the sizes in bytes agree but the datatypes differ, that is a finding, and the ranks continue (`TypeSignatures`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, NamedTuple, Protocol, TypeAlias

from fakempi.core.reports.written_arguments import written_arguments
from fakempi.errors.classes import ERR_NOT_SAME
from fakempi.mpi.base.call_site import call_and_place, frame_at, place_of_call, public_call
from fakempi.mpi.base.current import current_name, current_process, running_process
from fakempi.mpi.base.mpi_errors import call_mismatch, mpi_error

TAGS = 1 << 20
"""Number of collective calls after which tags on the collective context are used again."""

PERSISTENT = TAGS << 10
"""Added to the tags of persistent calls, which may be started again after other calls have used the same number."""

BY_SOME_RANKS = TAGS << 1
"""Added to the tags of calls that only some ranks of a communicator make, such as Create_group."""


class TypeSignature(Protocol):
    """The type signature of a buffer."""

    @property
    def name(self) -> str:
        """A description of the signature."""

    def agrees(self, other: Any) -> bool:
        """Whether data of one signature may be received with the other."""


TypeSignatures: TypeAlias = Mapping[int, TypeSignature]
"""Type signatures of the data, equal on all ranks; on an intercommunicator, of the data that each group sends."""

Amounts: TypeAlias = Sequence[object] | Mapping[int, object]
"""Bytes, or descriptions of messages, by rank."""

OpenCalls: TypeAlias = dict[Any, Any]
"""Calls that some ranks of a communicator have made and others have not yet (`CallEntry`, `Rendezvous`), by their number;
and other tables, by their name."""


class Traffic(NamedTuple):
    """The data that a rank exchanges with each other rank: bytes, or descriptions of several messages.

    `send_types` and `receive_types` are the type signatures: one for all ranks, or one for each; None if unknown.
    """

    sends: Amounts
    receives: Amounts
    send_types: Any = None
    receive_types: Any = None

    def moved(self, by: int) -> Traffic:
        """Return the traffic with slots in place of ranks, for a group whose first slot is `by`."""
        amounts = ({by + rank: amount for rank, amount in _listed(amounts)} for amounts in (self.sends, self.receives))
        types = (self.send_types, self.receive_types)
        shifted = ([None] * by + each if isinstance(each, list) else each for each in types)
        return Traffic(*amounts, *shifted)


class CallEntry:
    """A collective call as the first rank made it, the traffic of all ranks in it, and the number of ranks still missing."""

    __slots__ = (
        "_missing", "_number", "_table", "call", "declared_at", "facts", "fused", "mentions", "place",
        "rank_name", "recipe", "registered", "traffic", "types", "waiting",
    )  # fmt: skip

    def __init__(
        self, table: OpenCalls, number: int, call: str, place: str, facts: Mapping[str, object], ranks: int
    ) -> None:
        self.call, self.place, self.facts = call, place, facts
        self._table, self._number, self._missing = table, number, ranks
        self.rank_name = current_name()
        self.recipe: Any = None  # of the first rank, if it has one: equal recipes imply equal arguments
        # the pending fused call, or the reason why it is not fused; None until a rank runs the call
        self.fused: object = None
        self.waiting: Any = None  # the fused call, while its ranks wait and those that follow with the recipe only enter it
        self.declared_at: dict[str, tuple[str, str | None]] = {}  # place and rank, of facts that the first rank did not know
        self.registered: dict[int, str] = {}  # slot -> call site, of the ranks that have registered
        self.types: dict[int, tuple[TypeSignature, int, str]] = {}  # signature, the process that declared it, its call site
        self.traffic: dict[int, tuple[Traffic, str, Any]] = {}
        self.mentions: dict[int, list[int]] = {}  # rank -> the registered ranks with few partners that have it as a partner

    @property
    def places(self) -> dict[int, str]:
        """The call sites of the ranks that have made the call, by slot."""
        if self.waiting is not None:
            self.register_waiting()
        return self.registered

    def register_waiting(self) -> None:
        """Register the ranks that have only entered the fused call."""
        for slot, task in enumerate(self.waiting.tasks):
            if task is not None and slot not in self.registered:
                self.register(slot, self.recipe.place)

    def register(self, slot: int, place: str) -> None:
        """Record that a rank makes the call; after the last rank, the call is no longer open."""
        self.registered[slot] = place
        self._missing = missing = self._missing - 1
        if not missing:
            self.end()

    def end(self) -> None:
        """Remove the call from the open ones."""
        self._table.pop(self._number, None)


def register_call(
    table: OpenCalls, number: int, slot: int, size: int, facts: Mapping[str, object], traffic: Traffic | None = None,
    types: TypeSignatures | None = None, called: tuple[str, str] | None = None,
) -> str:  # fmt: skip
    """Register a call, or compare it with the calls of the ranks before; return its name.

    `number` counts the collective calls of a rank. `called` is the name and the place of the call, if they are known;
    otherwise the stack is searched.
    """
    call, place = called or call_and_place()
    if size == 1:
        return call
    entry = table.get(number)
    if entry is None:
        entry = table[number] = CallEntry(table, number, call, place, facts, size)
    elif entry.call != call and {entry.call, call} != {"Barrier", "barrier"}:
        if entry.call.lower() == call.lower():
            _object_met_buffer(entry, call, place)
        raise call_mismatch(call, entry.rank_name, entry.call, entry.place)
    elif entry.facts != facts:
        _compare(entry, facts)
    if traffic is not None:
        _compare_traffic(entry, slot, traffic, place)
    if types:
        for key, kind in types.items():
            declared = entry.types.get(key)
            if declared is None:
                entry.types[key] = kind, running_process().number, place
            elif kind is not declared[0] and not kind.agrees(declared[0]):
                sentence = f"has {kind.name}, but {{others}} had {declared[0].name} at {declared[2]}"
                report_type_mismatch(sentence, (declared[1],), call, place)
    entry.register(slot, place)
    return call


def register_repeated_call(table: OpenCalls, number: int, slot: int, size: int, recipe: Any) -> CallEntry | None:
    """Register a call that was made before, by its recipe; return the entry, or None on a communicator of one rank.

    The first rank registers the call. A rank with another recipe, or with other traffic, is compared.
    """
    if size == 1:
        return None
    entry: CallEntry | None = table.get(number)
    agreed, traffic, types = recipe.declared
    register_call(table, number, slot, size, agreed, traffic, types, (recipe.call, recipe.place))
    if entry is None:
        entry = table[number]
        if traffic is None:
            entry.recipe = recipe
    return entry


def report_type_mismatch(sentence: str, others: Sequence[int], call: str, place: str) -> None:
    """Report that the running rank and other ranks use different datatypes for the same data."""
    process = current_process()
    if process is not None:  # None outside a run
        process.universe.report(
            "datatype-mismatch", process.number, sentence, others, call=call, place=place, wrong_data=True
        )


def _object_met_buffer(entry: CallEntry, call: str, place: str) -> None:
    """Report and raise: one rank makes the call that takes objects, another rank the one that takes buffers."""
    here, there = ("a buffer", "an object") if call[0].isupper() else ("an object", "a buffer")
    process = current_process()
    if process is not None:
        sentence = f"takes {here}, but {entry.rank_name} called {entry.call} at {entry.place}, which takes {there}"
        process.universe.report("pickle-met-buffer", process.number, sentence, call=call, place=place, wrong_data=True)
    raise mpi_error(
        ERR_NOT_SAME,
        f"this rank calls {call} at {place}, which takes {here}, but {entry.rank_name} of the same communicator called "
        f"{entry.call} at {entry.place}, which takes {there}: all ranks must call the same method.",
    )


def missing_processes(side: Any, rank: int, tag: int) -> list[int]:
    """The numbers of the processes that have not made the collective call of a message with `tag` that waits on `rank`."""
    number, context = tag % TAGS, side.context
    if tag < PERSISTENT:
        return [
            process
            for group in context.sides
            for process, calls in zip(group.members, group.calls, strict=True)
            if calls < number
        ]
    starts = context.open_calls.get(("starts", number), {})
    least = starts.get(context.slot(side, rank), 0)
    return [process for slot, process in enumerate(context.process_numbers()) if starts.get(slot, 0) < least]


class HasProcesses(Protocol):
    """The context of a communicator."""

    def process_numbers(self) -> Sized:
        """Return the numbers of all its processes."""


class Starts(dict[int, int]):
    """Slot -> the number of times that the rank has started a persistent call; also the call site of its last start."""

    def __init__(self, call: str) -> None:
        self.call = call
        self.places: dict[int, str] = {}

    def count(self, slot: int) -> None:
        """Record that a rank starts the call."""
        self[slot] = self.get(slot, 0) + 1
        self.places[slot] = place_of_call()

    def differ(self, context: HasProcesses) -> bool:
        """Whether the ranks have started the call different numbers of times."""
        return len({self.get(slot, 0) for slot in range(len(context.process_numbers()))}) > 1


def starts_of(table: OpenCalls, number: int, call: str) -> Starts:
    """Return the `Starts` of a persistent call, created on first use."""
    starts: Starts = table.setdefault(("starts", number), Starts(call))
    return starts


def _compare(entry: CallEntry, facts: Mapping[str, object]) -> None:
    """Compare the facts of this rank with those declared before; add those that are new, for the ranks that follow."""
    for name, value in facts.items():
        if name not in entry.facts:
            entry.facts = {**entry.facts, name: value}
            entry.declared_at[name] = place_of_call(), current_name()
            continue
        other = entry.facts[name]
        if other != value:
            place, rank_name = entry.declared_at.get(name, (entry.place, entry.rank_name))
            if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
                i = next(i for i, (one, two) in enumerate(zip(value, other, strict=True)) if one != two)
                name, value, other = f"item {i} of {name}", value[i], other[i]
            here, there = f"{value} here ({place_of_call()})", f"{other} on {rank_name} ({place})"
            raise mpi_error(ERR_NOT_SAME, f"{_as_written(name)} is {here} but {there}: all ranks must agree.")


def _as_written(name: str) -> str:
    """The name of a parameter, with the argument of the current call as the program has it: `root=boss`."""
    call, frame = public_call(frame_at(1))
    written = {} if frame is None else written_arguments(call, frame.f_code, frame.f_lasti, frame.f_lineno)
    return f"{name}={written[name]}" if name in written else name


def _compare_traffic(entry: CallEntry, rank: int, mine: Traffic, place: str) -> None:
    """Compare the data that this rank sends and expects with the data that the registered ranks expect and send."""
    others: Iterable[int] = entry.traffic
    if isinstance(mine.sends, dict) and isinstance(mine.receives, dict):
        partners = dict.fromkeys([*mine.sends, *mine.receives])
        others = [other for other in {**partners, **dict.fromkeys(entry.mentions.pop(rank, ()))} if other in entry.traffic]
        for other in partners:
            entry.mentions.setdefault(other, []).append(rank)
    for other in others:
        theirs, their_place, process = entry.traffic[other]
        if (sent := _amount_at(mine.sends, other)) != (expected := _amount_at(theirs.receives, rank)):
            here, there = f"sends {_amount_text(sent)} to", f"expects {_amount_text(expected)}"
        elif (sent := _amount_at(theirs.sends, rank)) != (expected := _amount_at(mine.receives, other)):
            here, there = f"expects {_amount_text(expected)} from", f"sends {_amount_text(sent)}"
        else:
            if mine.send_types is not theirs.receive_types or mine.receive_types is not theirs.send_types:
                sent = _types_at(mine.send_types, mine.sends, other)
                taken = _types_at(theirs.receive_types, theirs.receives, rank)
                _compare_types(entry.call, place, ("sends", sent), ("expected", taken), process.number, their_place)
                taken = _types_at(mine.receive_types, mine.receives, other)
                sent = _types_at(theirs.send_types, theirs.sends, rank)
                _compare_types(entry.call, place, ("expects", taken), ("sent", sent), process.number, their_place)
            continue
        raise mpi_error(ERR_NOT_SAME, f"this rank {here} {process.name} ({place}), which {there} ({their_place}).")
    entry.traffic[rank] = mine, place, current_process()


def _types_at(types: object, amounts: Amounts, rank: int) -> Any:
    """The type signature of the data to or from a rank, or a tuple of signatures; None if there are no data."""
    if types is None or not _amount_at(amounts, rank):
        return None
    return types[rank] if isinstance(types, (list, dict)) else types


def _compare_types(
    call: str, place: str, here: tuple[str, Any], there: tuple[str, Any], number: int, their_place: str
) -> None:
    """Report a finding if the sender and the receiver use different datatypes."""
    (verb, mine), (other_verb, theirs) = here, there
    if mine is theirs or mine is None or theirs is None:
        return
    for one, other in zip(mine, theirs, strict=True) if isinstance(mine, tuple) else ((mine, theirs),):
        if one is not other and one is not None and other is not None and not one.agrees(other):
            sentence = f"{verb} {one.name}, but {{others}} {other_verb} {other.name} at {their_place}"
            report_type_mismatch(sentence, (number,), call, place)


def _amount_at(amounts: Amounts, rank: int) -> object:
    return amounts.get(rank, 0) if isinstance(amounts, dict) else amounts[rank] if amounts else 0


def _listed(amounts: Amounts) -> Iterable[tuple[int, object]]:
    return amounts.items() if isinstance(amounts, dict) else enumerate(amounts)


def _amount_text(amount: object) -> str:
    if isinstance(amount, tuple):
        return " and ".join(map(_amount_text, amount))
    return amount if isinstance(amount, str) else f"{amount} bytes" if amount else "nothing"
