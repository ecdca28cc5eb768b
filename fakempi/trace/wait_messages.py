"""Waits for messages: which of a rank's pending messages it waits for, and why that message has not started.

A rank that is idle waits for the message that ends last before the rank does anything else: posts a send or a receive,
computes, enters or leaves a region, or ends. That message determines when the rank continues. For Waitall it is the last one
to complete, and for Waitany, whose return is recorded as the end of a region, the first. The return of Wait is not recorded:
several calls of Wait with nothing in between count as one Waitall.

Until that message is posted on the other side, the other side is late. An eager send does not wait for its receive. From
then on until the transfer starts, a port or a link is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.trace.columns import EAGER, NEVER, ONE_SIDED, Columns, Rows
from fakempi.trace.wait_calls import probes
from fakempi.trace.wait_names import LATE_POST, LATE_RECEIVER, LATE_SENDER, LOCK, NUMBERS, PORT, TRANSIT

_EPOCHS = {"Start": LATE_POST}
"""Call -> the state of a wait for its grant, which is recorded as a message to the origin; other grants are locks."""


class PendingMessages:
    """The sides of every transfer: when the rank posted it, when the other side did, and when it ends for the rank."""

    def __init__(self, trace: Columns) -> None:
        rows = trace.transfer_rows
        received, one_sided = rows["awaited"] < NEVER, rows["protocol"] == ONE_SIDED
        grants = one_sided & (rows["receive_call"] > 0)
        epochs = np.array([NUMBERS[_EPOCHS.get(call.name, LOCK)] for call in trace.calls] or [0], np.int64)
        granted = np.where(grants, epochs[rows["receive_call"]], NUMBERS[LOCK])
        # A message of a window is sent at `awaited`, after its grant. The data that return were awaited before that.
        sent = one_sided & ~grants & (rows["awaited"] >= rows["posted"])
        ready = np.where((rows["protocol"] == EAGER) | (one_sided & ~sent), rows["posted"], rows["awaited"])
        late_receiver = np.where(sent, _grants_at(rows, grants, granted), NUMBERS[LATE_RECEIVER])
        late_sender = np.where(grants, granted, np.where(one_sided, NUMBERS[TRANSIT], NUMBERS[LATE_SENDER]))
        rows_in = rows[received]
        sends = [rows["source"], rows["posted"], np.minimum(ready, rows["start"]), rows["sent"], rows["call"], late_receiver]
        receives = [
            rows_in["dest"], rows_in["awaited"], rows_in["posted"], np.maximum(rows_in["arrived"], rows_in["awaited"]),
            np.where(one_sided & ~grants, rows["call"], rows["receive_call"])[received], late_sender[received],
        ]  # fmt: skip
        sides = zip(sends, receives, _probed(trace), strict=True)
        self.rank, self.own, self.other, self.done, self.call, self.late = map(np.concatenate, sides)
        by_program = rows[~one_sided], rows[received & (grants | ~one_sided)]
        self._actions = [
            (by_program[0]["source"], by_program[0]["posted"]), (by_program[1]["dest"], by_program[1]["awaited"]),
            (rows["source"][sent], rows["awaited"][sent]),
        ]  # fmt: skip

    def times(self) -> tuple[Any, ...]:
        """Return all times that `prepare` looks up."""
        return self.own, self.other, self.done

    def actions(self) -> list[tuple[Any, Any]]:
        """Return ranks and times at which they posted sends and receives, or sent messages of windows."""
        return self._actions

    def prepare(self, keys: Callable[[Any, Any], Any]) -> list[Any]:
        """Order the messages by their ends; return the keys at which the reason of a wait may change."""
        own, other, done = (keys(self.rank, times) for times in (self.own, self.other, self.done))
        order = np.lexsort((-own, done))  # of messages with the same end, the one that was posted first is last
        self.own, self.other, self.done = own[order], other[order], done[order]
        self.call, self.late = self.call[order], self.late[order]
        return [self.own, self.other]

    def classify(self, begins: Any, ends: Any, actions: Any, size: int) -> tuple[Any, Any, Any]:
        """Return which intervals (keys of begins and ends) are waits for messages, and states and calls of these."""
        if not len(self.done) or not len(begins):
            return np.zeros(len(begins), bool), [], []
        at = np.searchsorted(actions, ends, "left")
        until = np.minimum(np.append(actions, np.iinfo(np.int64).max)[at], (ends // size + 1) * size - 1)
        last = self._last_ended(begins, ends, np.searchsorted(self.done, until, "right") - 1)
        # A message that is posted and ends at `until` is not the reason. No earlier one is posted after `begins`.
        missing = last < 0
        last[missing] = self._last_ended(
            begins[missing], ends[missing], np.searchsorted(self.done, until[missing], "left") - 1
        )
        found = last >= 0
        row = last[found]
        is_late = begins[found] < self.other[row]
        return found, np.where(is_late, self.late[row], NUMBERS[PORT]), self.call[row]

    def _last_ended(self, begins: Any, ends: Any, at: Any) -> Any:
        """Return the given rows where these are pending in an interval, otherwise -1."""
        row = np.maximum(at, 0)
        return np.where((at >= 0) & (self.done[row] >= ends) & (self.own[row] <= begins), row, -1)


def _grants_at(rows: Rows, grants: Any, granted: Any) -> Any:
    """Return, for each message of a window, the wait state of the grant that arrives when it is sent; else, of a lock."""
    arrived = zip(rows["dest"][grants].tolist(), rows["arrived"][grants].tolist(), strict=True)
    states = dict(zip(arrived, granted[grants].tolist(), strict=True))
    if not states:
        return NUMBERS[LOCK]
    sent = zip(rows["source"].tolist(), rows["awaited"].tolist(), strict=True)
    return np.array([states.get(key, NUMBERS[LOCK]) for key in sent])


def _probed(trace: Columns) -> list[Any]:
    """Return the blocking probes as receives that end with the probe, of an eager message if one arrives at that time."""
    regions = probes(trace)
    rows = trace.transfer_rows[(trace.transfer_rows["protocol"] == EAGER) & (len(regions) > 0)]
    arrivals = zip(rows["dest"].tolist(), rows["arrived"].tolist(), strict=True)
    posted = dict(zip(arrivals, rows["posted"].tolist(), strict=True))
    ends = zip(regions["rank"].tolist(), regions["end"].tolist(), strict=True)
    other = np.array([posted.get((rank, end), end) for rank, end in ends], float)
    late_sender = np.full(len(other), NUMBERS[LATE_SENDER])
    return [regions["rank"], regions["start"], other, regions["end"], regions["call"], late_sender]
