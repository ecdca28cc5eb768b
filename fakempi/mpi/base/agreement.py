"""The roll of collective calls: whoever comes first writes down what it calls, and the others must call the same.

The k-th collective call of a rank on a communicator is the k-th of all its ranks. A rank that calls something else there, or
the same with another root, count or operation, is told of both calls, with file and line, before anything is sent. Where
each pair of ranks has sizes of its own, what one sends must be what the other expects. Ranks are named as in all complaints,
by their number in the world. Between two groups the roll is one for both: ranks have their place among all, and a rank says
what it knows of either group; what the first to come did not say, the next one does.

Ranks that call the same bytes by different types are not stopped, but found (`Kinds`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, NamedTuple

from fakempi.error_classes import ERR_NOT_SAME
from fakempi.mpi.base.complain import call_site, complaint, out_of_step, public_call, site_of
from fakempi.mpi.base.current import current_name, current_process

TAGS = 1 << 20
"""Calls after which tags on a communicator's twin are used again."""

PREPARED = TAGS << 10
"""Added to the tags of persistent calls, which may be started again when others have used their number."""

MAKING = TAGS << 1
"""Added to the tags of calls that some ranks of a communicator make, and others do not."""


Kinds = dict[int, Any]
"""Type signatures of what all ranks send and receive alike; of two groups, of what either sends."""


class Traffic(NamedTuple):
    """What a rank gives to each other rank and takes from it: bytes, or what each of several messages holds.

    `given` and `taken` are type signatures of that: one for all, or like the amounts; None where they are not known.
    """

    gives: Sequence[Any] | dict[int, Any]
    takes: Sequence[Any] | dict[int, Any]
    given: Any = None
    taken: Any = None

    def moved(self, by: int) -> Traffic:
        """The same with places in the roll, for ranks of a group that comes after so many others."""
        amounts = ({by + rank: amount for rank, amount in _listed(amounts)} for amounts in (self.gives, self.takes))
        kinds = ([None] * by + kinds if isinstance(kinds, list) else kinds for kinds in (self.given, self.taken))
        return Traffic(*amounts, *kinds)


class Entry:
    """A collective call as the first rank made it, what the others exchange in it, and how many are still to come."""

    __slots__ = (
        "facts", "kinds", "mentions", "missing", "name", "paper", "places", "plan", "recipe", "said", "site", "traffic",
    )  # fmt: skip

    def __init__(self, plan: str, site: str, facts: dict[str, Any], missing: int) -> None:
        self.plan, self.site, self.facts, self.missing = plan, site, facts, missing
        self.name = current_name()
        self.recipe: Any = None  # the first one's, if it has one: who has the same says the same
        self.paper: Any = None  # its page, or why it is not on paper; None if nobody has come to carry it out
        self.said: dict[str, tuple[str, str | None]] = {}  # where and by whom, of facts that the first one did not know
        self.places: dict[int, str] = {}  # by place in the roll: where those have called who came
        self.kinds: dict[int, tuple[Any, int, str]] = {}  # type signatures, and who has said so, and where
        self.traffic: dict[int, tuple[Traffic, str, Any]] = {}
        self.mentions: dict[int, list[int]] = {}  # by rank: who of those that came, and have few partners, deals with it


def enrol(
    table: dict[Any, Any], call: int, rank: int, size: int, facts: dict[str, Any], traffic: Traffic | None = None,
    within: FrameType | None = None, kinds: Kinds | None = None,
) -> str:  # fmt: skip
    """Enter a call, or compare it with the entry of those who came before; returns its name.

    `rank` is a place; `within` is a frame of ours inside the call, the nearer to the program the sooner the call is found.
    """
    plan, frame = public_call(within or sys._getframe())
    if size == 1:
        return plan
    entry = table.get(call)
    if entry is None:
        entry = table[call] = Entry(plan, site_of(frame), facts, size)
    elif entry.plan != plan and {entry.plan, plan} != {"Barrier", "barrier"}:
        raise out_of_step(plan, entry.name, entry.plan, entry.site)
    elif entry.facts != facts:
        _compare(entry, facts)
    if traffic is not None:
        _exchange(entry, rank, traffic, site_of(frame))
    entry.places[rank] = site_of(frame)
    if kinds:
        for key, kind in kinds.items():
            said = entry.kinds.get(key)
            if said is None:
                entry.kinds[key] = kind, current_process().number, site_of(frame)
            elif kind is not said[0] and not kind.agrees(said[0]):
                sentence = f"has {kind.name}, but {{others}} had {said[0].name} at {said[2]}"
                tell_of_types(sentence, (said[1],), plan, site_of(frame))
    entry.missing -= 1
    if not entry.missing:
        del table[call]
    return plan


def enrol_again(table: dict[Any, Any], call: int, rank: int, size: int, recipe: Any) -> Any:
    """Enter a call that was made before, by its recipe; returns the entry, or None for a lone rank.

    Who comes first enters it in full, and who comes with another recipe is compared, or with traffic of its own.
    """
    if size == 1:
        return None
    entry = table.get(call)
    if entry is None or entry.recipe is not recipe:
        enrol(table, call, rank, size, recipe.facts, recipe.traffic, sys._getframe(1), recipe.kinds)
        if entry is None:
            entry = table[call]
            if recipe.traffic is None:
                entry.recipe = recipe
        return entry
    entry.places[rank] = recipe.site
    entry.missing -= 1
    if not entry.missing:
        del table[call]
    return entry


def tell_of_types(sentence: str, others: Sequence[int], call: str, place: str) -> None:
    """The running rank takes for one type what somebody gives as another."""
    process = current_process()
    if process is not None:  # as outside a run
        process.universe.found("datatype-mismatch", process.number, sentence, others, call=call, place=place, at_once=True)


def absent(side: Any, rank: int, tag: int) -> list[int]:
    """Of a message on a communicator's twin that `rank` of a side waits with: the numbers of the processes that have not
    come to the call it belongs to."""
    call, context = tag % TAGS, side.context
    if tag < PREPARED:
        return [number for each in context.sides for i, number in enumerate(each.members) if each.calls.get(i, 0) < call]
    starts = context.meetings.get(starts_of(call), {})
    least = starts.get(context.place(side, rank), 0)
    return [number for place, number in enumerate(context.everybody()) if starts.get(place, 0) < least]


class Starts(dict[int, int]):
    """How often each rank, by its place, has started a persistent call; and where, the last time."""

    def __init__(self, call: str) -> None:
        self.call = call
        self.sites: dict[int, str] = {}

    def count(self, place: int) -> None:
        """A rank starts it."""
        self[place] = self.get(place, 0) + 1
        self.sites[place] = call_site()

    def differ(self, context: Any) -> bool:
        """Whether some have started it more often than others."""
        return len({self.get(place, 0) for place in range(len(context.everybody()))}) > 1


def starts_of(call: int) -> tuple[str, int]:
    """Where it is written how often each rank, by its place, has started a persistent call."""
    return "starts", call


def _compare(entry: Entry, facts: dict[str, Any]) -> None:
    """What both say must be the same; what only this rank says, those who come later must say too."""
    for name, value in facts.items():
        if name not in entry.facts:
            if not entry.said:
                entry.facts = dict(entry.facts)  # which are the first one's own
            entry.facts[name] = value
            entry.said[name] = call_site(), current_name()
            continue
        other = entry.facts[name]
        if other != value:
            site, who = entry.said.get(name, (entry.site, entry.name))
            if isinstance(value, list) and len(value) == len(other):
                i = next(i for i, (one, two) in enumerate(zip(value, other, strict=True)) if one != two)
                name, value, other = f"item {i} of {name}", value[i], other[i]
            here, there = f"{value} here ({call_site()})", f"{other} on {who} ({site})"
            raise complaint(ERR_NOT_SAME, f"{name} is {here} but {there}: all ranks must agree.")


def _exchange(entry: Entry, rank: int, mine: Traffic, place: str) -> None:
    """What this rank gives to those who came before and takes from them must be what they say."""
    others: Iterable[int] = entry.traffic
    if isinstance(mine.gives, dict) and isinstance(mine.takes, dict):
        partners = dict.fromkeys([*mine.gives, *mine.takes])
        others = [other for other in {**partners, **dict.fromkeys(entry.mentions.pop(rank, ()))} if other in entry.traffic]
        for other in partners:
            entry.mentions.setdefault(other, []).append(rank)
    for other in others:
        theirs, site, process = entry.traffic[other]
        if (sent := _at(mine.gives, other)) != (expected := _at(theirs.takes, rank)):
            here, there = f"sends {_words(sent)} to", f"expects {_words(expected)}"
        elif (sent := _at(theirs.gives, rank)) != (expected := _at(mine.takes, other)):
            here, there = f"expects {_words(expected)} from", f"sends {_words(sent)}"
        else:
            if mine.given is not theirs.taken or mine.taken is not theirs.given:
                sent, taken = _kinds(mine.given, mine.gives, other), _kinds(theirs.taken, theirs.takes, rank)
                _compare_kinds(entry.plan, place, ("sends", sent), ("expected", taken), process.number, site)
                taken, sent = _kinds(mine.taken, mine.takes, other), _kinds(theirs.given, theirs.gives, rank)
                _compare_kinds(entry.plan, place, ("expects", taken), ("sent", sent), process.number, site)
            continue
        raise complaint(ERR_NOT_SAME, f"this rank {here} {process.name} ({place}), which {there} ({site}).")
    entry.traffic[rank] = mine, place, current_process()


def _kinds(kinds: Any, amounts: Sequence[Any] | dict[int, Any], rank: int) -> Any:
    """The type signature of what goes to a rank or comes from it, or those of several messages; None if there is nothing."""
    if kinds is None or not _at(amounts, rank):
        return None
    return kinds[rank] if isinstance(kinds, (list, dict)) else kinds


def _compare_kinds(plan: str, place: str, here: tuple[str, Any], there: tuple[str, Any], number: int, site: str) -> None:
    """What this rank sends must be of the type that the other one expects, or the other way round."""
    (verb, mine), (other_verb, theirs) = here, there
    if mine is theirs or mine is None or theirs is None:
        return
    for one, other in zip(mine, theirs, strict=True) if isinstance(mine, tuple) else ((mine, theirs),):
        if one is not other and one is not None and other is not None and not one.agrees(other):
            sentence = f"{verb} {one.name}, but {{others}} {other_verb} {other.name} at {site}"
            tell_of_types(sentence, (number,), plan, place)


def _at(amounts: Sequence[Any] | dict[int, Any], rank: int) -> Any:
    return amounts.get(rank, 0) if isinstance(amounts, dict) else amounts[rank] if amounts else 0


def _listed(amounts: Sequence[Any] | dict[int, Any]) -> Iterable[tuple[int, Any]]:
    return amounts.items() if isinstance(amounts, dict) else enumerate(amounts)


def _words(amount: Any) -> str:
    if isinstance(amount, tuple):
        return " and ".join(map(_words, amount))
    return amount if isinstance(amount, str) else f"{amount} bytes" if amount else "nothing"
