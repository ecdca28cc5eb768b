"""The names of wait states, what they mean, and the format of rows of waits."""

from __future__ import annotations

import numpy as np

LATE_SENDER, LATE_RECEIVER = "late sender", "late receiver"
BARRIER, N_TO_N, LATE_BROADCAST = "wait at barrier", "wait at N x N", "late broadcast"
EARLY_REDUCE, EARLY_SCAN = "early reduce", "early scan"
CREATE, FREE, FENCE = "wait at create", "wait at free", "wait at fence"
LATE_POST, EARLY_WAIT, LOCK = "late post", "early wait", "lock contention"
PORT, TRANSIT, FILE = "port contention", "access in transit", "file access"
POLLING, THREAD, NOT_SPAWNED = "polling", "wait for thread", "not spawned yet"
ENDED_EARLY, OTHER, BLOCKED = "ended early", "other", "blocked"

MEANINGS = {
    LATE_SENDER: "a receive or probe was posted, the send was not",
    LATE_RECEIVER: "a synchronous send was posted, the receive was not",
    BARRIER: "in a barrier, until the last rank called it",
    N_TO_N: "in a collective of all ranks, until the last rank called it",
    LATE_BROADCAST: "in a bcast or scatter, until the root called it",
    EARLY_REDUCE: "the root of a reduce or gather, until another rank called it",
    EARLY_SCAN: "in a scan, until the last rank with a lower number called it",
    CREATE: "communicator, window or file created: until all called",
    FREE: "a window freed, a file closed ...: until all called",
    FENCE: "in Fence of a window, until the last rank called it",
    LATE_POST: "an access to a window, until its target called Post",
    EARLY_WAIT: "in Wait of a window, until the last origin called Complete",
    LOCK: "an access to a window, until the lock was granted",
    PORT: "both sides were ready, but a port or a link was in use",
    TRANSIT: "an access to a window was on its way, or its result",
    FILE: "in an access to a file",
    POLLING: "the rank polled (Test, Iprobe ...) without success",
    THREAD: "waited for a lock, or another thread of the rank",
    NOT_SPAWNED: "the rank was spawned later",
    ENDED_EARLY: "the rank had ended, the run had not",
    OTHER: "none of these: the trace does not record the cause",
    BLOCKED: "in a call that the rank never left: the run failed",
}
STATES = tuple(MEANINGS)
NUMBERS = {state: number for number, state in enumerate(STATES)}

WAITS = np.dtype([("start", "f8"), ("end", "f8"), ("rank", "i4"), ("state", "i4"), ("call", "i4")])
"""The columns of waits; `state` is an index into `STATES`."""
