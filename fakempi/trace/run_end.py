"""The record of how a run failed: JSON values, which a trace contains as `ended` in its metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.errors import DeadlockError, FindingsError, RankError, printable, text_of

AWAITED = 8
"""Maximum number of awaited ranks that are recorded per blocked rank: at a barrier, all would list the same ranks."""

HEADLINE = 120
"""Maximum number of characters of a headline, which views print in one line."""


def ended(error: BaseException, time: float, blocked: Sequence[Any] = (), lines: Sequence[str] = ()) -> dict[str, Any]:
    """Return the failure of a run as JSON values, with the blocked ranks and the ranks they wait for.

    `blocked` are records of blocked ranks, and `lines` describe them, unless the error does so itself.
    """
    text = printable(text_of(error), keep="\n")
    record: dict[str, Any] = {"kind": type(error).__name__, "time": time}
    if isinstance(error, DeadlockError):
        blocked, time = error.blocked, float(error.time)
        record |= {"time": time, "cycle": list(error.cycle)}
        record["misses"] = [
            {"rank": miss.rank, "sender": miss.sender, "tag": miss.tag, "but": miss.difference}
            for miss in error.misses[:100]
        ]
        headline = text.partition(":")[0]
    elif isinstance(error, RankError):
        text, headline = "\n  ".join([text, *lines]), f"{error.name} failed with {type(error.exception).__name__}"
    elif isinstance(error, KeyboardInterrupt):
        headline = f"{getattr(error, 'verb', 'interrupted')} at t = {time:.6g} s"
        text = "\n  ".join([headline, *lines])
    elif isinstance(error, FindingsError):  # views show the findings, too
        headline = text.partition("\n")[0].rstrip(":")
        text = "\n  ".join([headline, *lines])
    else:
        headline = text
    first = headline.partition("\n")[0].rstrip(".:")
    headline = first if len(first) <= HEADLINE else f"{first[:HEADLINE]}…"
    return {**record, "text": text, "headline": headline, "stuck": [_stuck(one) for one in blocked]}


def _stuck(record: Any) -> dict[str, Any]:
    wants = [{"words": _in_words(want), "awaits": list(want.awaits[:AWAITED])} for want in record.events[:AWAITED]]
    return {
        "rank": record.rank,
        "call": record.call,
        "site": record.place,
        "since": float(record.since),
        "polls": record.polls,
        "wants": wants,
    }


def _in_words(want: Any) -> str:
    tag = "any tag" if want.tag is None else f"tag {want.tag}"
    if want.kind == "receive":
        return f"a message from {'any rank' if want.peer is None else f'rank {want.peer}'} with {tag}{want.where}"
    if want.kind == "send":
        return f"rank {want.peer} to receive {want.nbytes} bytes with {tag}{want.where}"
    if want.kind == "collective":
        ranks = ", ".join(map(str, want.awaits[:AWAITED])) + (", …" if len(want.awaits) > AWAITED else "")
        return f"rank{'s' if len(want.awaits) > 1 else ''} {ranks} to call it{want.where}"
    return str(want.where)
