"""Read the operations of a rank in GOAL."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from collectives.schedules import json_format
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.goal.tokens import Note, Tokens
from collectives.schedules.step import UNKNOWN, Range, Step

KINDS: Final = ("send", "recv", "calc")
WAITS: Final = ("requires", "irequires")
AFTER_LABELS: Final = (":", *WAITS)
"""A label at the beginning of a statement is followed by one of these. Words such as `tag` may be labels, too."""

MAX_UNIT: Final = 255
"""The largest number of a cpu or nic: the binary form has a byte for it."""

WILDCARD: Final = "wildcards are not supported, since timing decides what they match"


@dataclass(frozen=True)
class Dependency:
    """An operation, by index or label, that waits (`kind`) for the operation with the label `other`; where it is written."""

    operation: int | str
    kind: str
    other: str
    position: int


@dataclass
class RankOperations:
    """The operations of a rank while they are read."""

    number: int
    steps: list[Step] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    dependencies: list[Dependency] = field(default_factory=list)


def read_rank(tokens: Tokens, number: int, ranks: int) -> RankOperations:
    """Return the operations of a rank, up to its closing brace."""
    rank = RankOperations(number)
    while (token := tokens.take()).text != "}":
        kind = token
        if token.kind == "end":
            raise tokens.error(token.position, f"the file has no closing brace for rank {number}")
        if token.kind == "word" and token.text not in KINDS:
            if tokens.peek().text in WAITS:
                rank.dependencies.append(_read_dependency(tokens, token.text))
                continue
            if tokens.peek().text == ":":
                tokens.take()
                if rank.labels.setdefault(token.text, len(rank.steps)) != len(rank.steps):
                    raise tokens.error(token.position, f"label {token.text} occurs twice in this rank")
                kind = tokens.take()
        if kind.text not in KINDS:
            after_label = "" if kind is not token else ", `LABEL:`, `LABEL requires` or `LABEL irequires`"
            raise tokens.error(kind.position, f"expected send, recv, calc{after_label}, not {kind}")
        step = _read_calc(tokens) if kind.text == "calc" else _read_message(tokens, kind.text, ranks)
        step = _read_attributes(tokens, step)
        note = token.note or kind.note
        rank.steps.append(step if note is None else _noted(tokens, note, step))
        while tokens.peek().text in WAITS and tokens.peek(1).text not in AFTER_LABELS:
            rank.dependencies.append(_read_dependency(tokens, len(rank.steps) - 1))
    return rank


def _read_dependency(tokens: Tokens, operation: int | str) -> Dependency:
    kind, other = tokens.take(), tokens.take()
    if other.kind != "word":
        raise tokens.error(other.position, f"expected the label of an operation, not {other}")
    return Dependency(operation, kind.text, other.text, kind.position)


def _read_calc(tokens: Tokens) -> Step:
    position, nanoseconds = tokens.peek().position, tokens.number("nanoseconds")
    if nanoseconds < 0:
        raise tokens.error(position, f"a calc takes {nanoseconds} ns, but a time is not negative")
    return Step("compute", seconds=nanoseconds * 1e-9)


def _read_message(tokens: Tokens, kind: str, ranks: int) -> Step:
    position, nbytes = tokens.peek().position, tokens.number("a number of bytes")
    if nbytes < 0:
        raise tokens.error(position, f"a message has {nbytes} bytes, but a size is not negative")
    tokens.expect("b")
    tokens.expect("to" if kind == "send" else "from")
    position, peer = tokens.peek().position, tokens.number("the number of a rank")
    if peer < 0:
        raise tokens.error(position, WILDCARD)
    if peer >= ranks:
        raise tokens.error(position, f"rank {peer} does not exist, num_ranks is {ranks}")
    where = Range(UNKNOWN, 0, nbytes) if nbytes else None
    return Step("send", peer, source=where) if kind == "send" else Step("recv", peer, target=where)


def _read_attributes(tokens: Tokens, step: Step) -> Step:
    """Read `tag`, `cpu` and `nic` in any order, and return the step with them."""
    given: dict[str, Any] = {}
    names = ("cpu", "nic") if step.kind == "compute" else ("tag", "cpu", "nic")
    while tokens.peek().text in names and tokens.peek(1).text not in AFTER_LABELS:
        name = tokens.take()
        if name.text in given:
            raise tokens.error(name.position, f"{name.text} occurs twice in this operation")
        position = tokens.peek().position
        given[name.text] = tokens.number(f"the number of a {name.text}")
        if given[name.text] < 0:
            raise tokens.error(position, WILDCARD if name.text == "tag" else f"{name.text} must not be negative")
        if name.text != "tag" and given[name.text] > MAX_UNIT:
            raise tokens.error(position, f"{name.text} must be at most {MAX_UNIT}")
    return replace(step, **given) if any(given.values()) else step


def _noted(tokens: Tokens, note: Note, step: Step) -> Step:
    """Return the step that a comment of fakempi describes; `step` is that of the operation after the comment."""
    data = dict(note.data)
    kind = str(data.pop("kind", None))
    try:
        noted = json_format._step_in({kind: 0 if kind in ("send", "recv", "compute") else None} | data, "the comment")
    except InvalidScheduleError as error:
        raise tokens.error(note.position, str(error)) from None
    if step.kind == "compute":
        if noted.kind in ("send", "recv"):
            raise tokens.error(note.position, f"the comment describes a {noted.kind}, but a calc follows")
        return replace(noted, cpu=step.cpu)
    if noted.kind != step.kind or noted.nbytes != step.nbytes:
        raise tokens.error(
            note.position,
            f"the comment describes {noted.nbytes} bytes by {noted.kind}, but {step.nbytes} bytes by {step.kind} follow",
        )
    return replace(noted, peer=step.peer, tag=step.tag, cpu=step.cpu, nic=step.nic)
