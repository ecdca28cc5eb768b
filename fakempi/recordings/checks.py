"""Checks of a recording, in arrays: members, ranks, sizes, requests, counts, and the order of collective calls.

A replay would fail at a wrong event, too, but in the middle of a run and in the words of MPI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import (
    ANY,
    COLLECTIVE,
    COUNTS_AT_ROOT,
    COUNTS_EVERYWHERE,
    END,
    KIND_NAMES,
    NO_REQUEST,
    OPERATIONS,
    RECEIVE,
    ROOTED,
    SENDRECV,
    WAIT,
    Communicator,
    Numbers,
    Rows,
)

MAX_TAG = 2**31 - 1

MAX_SECONDS = 1e12
"""A computing time that no run has."""


def check_communicators(communicators: Sequence[Communicator], ranks: int, source: str) -> None:
    """Raise RecordingError if a communicator has no members, a member twice, or one that is no rank."""
    for index, comm in enumerate(communicators):
        both = np.concatenate([comm.members, comm.remote])
        if not len(comm.members) or len(np.unique(both)) != len(both) or both.min() < 0 or both.max() >= ranks:
            raise RecordingError(f"communicator {index}: its members are not distinct ranks from 0 to {ranks - 1}.", source)


def check_rank(rank: int, rows: Rows, numbers: Numbers, communicators: Sequence[Communicator], source: str) -> None:
    """Raise RecordingError at the first wrong event of a rank."""
    check = _Rank(rank, rows, source)
    kind, comm = rows["kind"], rows["comm"]
    check.reject(kind > END, lambda row: f"unknown kind {row['kind']}")
    if not len(rows) or kind[-1] != END or (kind[:-1] == END).any():
        raise RecordingError(f"rank {rank}: a rank has one end, as its last event.", source)
    calls = (kind != WAIT) & (kind != END)
    check.reject(calls & ((comm < 0) | (comm >= len(communicators))), lambda row: f"there is no communicator {row['comm']}")
    member, peers = _tables(rank, np.unique(comm[calls]).tolist(), communicators)
    comm = np.where(calls, comm, 0)
    check.reject(calls & ~member[comm], lambda row: f"the rank is no member of communicator {row['comm']}")
    messages = kind <= SENDRECV
    lowest = np.where(kind == RECEIVE, ANY, -1)
    wrong = messages & ((rows["peer"] < lowest) | (rows["peer"] >= peers[comm]))
    check.reject(wrong, lambda row: f"communicator {row['comm']} has no rank {row['peer']}")
    check.reject(messages & (rows["tag"] < lowest), lambda row: f"the tag {row['tag']} is negative")
    check.reject(rows["nbytes"] < 0, lambda row: f"a size of {row['nbytes']} bytes")
    seconds = np.minimum(rows["compute"], rows["seconds"])
    check.reject(~((seconds >= 0) & (rows["compute"] < MAX_SECONDS)), lambda row: f"{row['compute']} s of computing")
    outside = (rows["count"] < 0) | (rows["first"] < 0) | (rows["first"] > len(numbers) - rows["count"].astype(np.int64))
    check.reject(outside, lambda row: "numbers that are not in the file")
    _check_sendrecv(check, rows, numbers, peers)
    _check_collectives(check, rows, numbers, peers, communicators)
    _check_requests(check, rows, numbers)


class _Rank:
    """The rows of a rank, and how to report the first wrong one."""

    def __init__(self, rank: int, rows: Rows, source: str) -> None:
        self.rank, self.rows, self.source = rank, rows, source

    def reject(self, wrong: npt.NDArray[np.bool_], reason: Any) -> None:
        """Raise RecordingError at the first row that is wrong."""
        if wrong.any():
            index = int(wrong.argmax())
            row = self.rows[index]
            kind = KIND_NAMES[min(row["kind"], END)]
            raise RecordingError(f"rank {self.rank}, event {index:,} ({kind}): {reason(row)}.", self.source)

    def reject_some(self, indices: npt.NDArray[np.int64], wrong: npt.NDArray[np.bool_], reason: Any) -> None:
        """Raise RecordingError at the first row that is wrong; `wrong` is about the rows with these indices."""
        if wrong.any():
            every = np.zeros(len(self.rows), bool)
            every[indices[wrong]] = True
            self.reject(every, reason)


def _tables(
    rank: int, used: Sequence[int], communicators: Sequence[Communicator]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return for each communicator that a rank uses whether it is a member, and how many ranks it can send to."""
    member, peers = np.zeros(len(communicators), bool), np.zeros(len(communicators), np.int64)
    for index in used:
        comm = communicators[index]
        remote = bool((comm.remote == rank).any())
        member[index] = remote or (comm.members == rank).any()
        peers[index] = len(comm.members) if remote else comm.peers
    return member, peers


def _check_sendrecv(check: _Rank, rows: Rows, numbers: Numbers, peers: npt.NDArray[np.int64]) -> None:
    where = np.flatnonzero(rows["kind"] == SENDRECV)
    if not len(where):
        return
    check.reject((rows["kind"] == SENDRECV) & (rows["count"] != 3), lambda row: "a sendrecv without a receiving half")
    first = rows["first"][where]
    source, tag, nbytes = (numbers[first + column] for column in range(3))
    wrong = (source < ANY) | (source >= peers[rows["comm"][where]]) | (tag < ANY) | (tag > MAX_TAG) | (nbytes < 0)
    check.reject_some(where, wrong, lambda row: f"its receiving half is {numbers[row['first'] : row['first'] + 3].tolist()}")


def _check_collectives(
    check: _Rank, rows: Rows, numbers: Numbers, peers: npt.NDArray[np.int64], communicators: Sequence[Communicator]
) -> None:
    collective = rows["kind"] == COLLECTIVE
    if not collective.any():
        return
    check.reject(collective & (rows["operation"] >= len(OPERATIONS)), lambda row: f"unknown operation {row['operation']}")
    operation = np.where(collective, rows["operation"], 0)
    size = peers[np.where(collective, rows["comm"], 0)]
    between = np.array([len(comm.remote) > 0 for comm in communicators])
    inter = collective & between[np.where(collective, rows["comm"], 0)]
    check.reject(inter, lambda row: f"collective calls on intercommunicators (communicator {row['comm']}) are not supported")
    rooted = collective & np.isin(operation, [OPERATIONS.index(name) for name in ROOTED])
    check.reject(
        rooted & ((rows["peer"] < 0) | (rows["peer"] >= size)),
        lambda row: f"communicator {row['comm']} has no rank {row['peer']}, the root of {OPERATIONS[row['operation']]}",
    )
    check.reject(collective & (rows["itemsize"] < 1), lambda row: f"elements of {row['itemsize']} bytes")
    expected = np.zeros(len(rows), np.int64)
    optional = np.zeros(len(rows), bool)
    for number, name in enumerate(OPERATIONS):
        if name in COUNTS_EVERYWHERE or name in COUNTS_AT_ROOT:
            expected = np.where(operation == number, size, expected)
            optional |= (operation == number) & (name in COUNTS_AT_ROOT)
        elif name == "alltoallv":
            expected = np.where(operation == number, 2 * size, expected)
    wrong = collective & (rows["count"] != expected) & ~(optional & (rows["count"] == 0))
    check.reject(wrong, lambda row: f"{OPERATIONS[row['operation']]} with {row['count']} counts")
    _check_counts(check, rows, numbers, collective)


def _check_counts(check: _Rank, rows: Rows, numbers: Numbers, collective: npt.NDArray[np.bool_]) -> None:
    """Raise RecordingError if a count is negative; equal counts of many rows are stored once."""
    where = np.flatnonzero(collective)
    pairs, inverse = np.unique(np.stack([rows["first"][where], rows["count"][where]]), axis=1, return_inverse=True)
    negative = np.array([(numbers[first : first + count] < 0).any() for first, count in pairs.T.tolist()])
    wrong = negative[inverse.ravel()]  # numpy 2.0 returned an array of two dimensions
    check.reject_some(where, wrong, lambda row: "a negative count")


def _check_requests(check: _Rank, rows: Rows, numbers: Numbers) -> None:
    """Raise RecordingError if a call waits for a request that is not open at that time."""
    started, waits = np.flatnonzero(rows["request"] != NO_REQUEST), np.flatnonzero(rows["kind"] == WAIT)
    count = rows["count"][waits].astype(np.int64)
    if not count.any():
        return
    ends = np.cumsum(count)
    positions = np.repeat(rows["first"][waits] - (ends - count), count) + np.arange(ends[-1])
    waited, at = numbers[positions], np.repeat(waits, count)
    order = np.argsort(rows["request"][started], kind="stable")
    ids = rows["request"][started][order]
    place = np.searchsorted(ids, waited)
    known = place < len(ids)
    known[known] &= ids[place[known]] == waited[known]
    known[known] &= started[order][place[known]] < at[known]
    _, once = np.unique(waited, return_index=True)
    repeated = np.ones(len(waited), bool)
    repeated[once] = False
    check.reject_some(at, ~known | repeated, lambda row: "it waits for a request that is not open")
    if len(np.unique(ids)) != len(ids):
        raise RecordingError(f"rank {check.rank}: two requests have the same number.", check.source)


def check_order(events: Sequence[Rows], communicators: Sequence[Communicator], source: str) -> None:
    """Raise RecordingError if members of a communicator made different collective calls on it, or in another order."""
    reference: dict[int, tuple[int, npt.NDArray[Any]]] = {}
    seen: set[tuple[int, int]] = set()
    for rank, rows in enumerate(events):
        calls = rows[rows["kind"] == COLLECTIVE]
        calls = calls[np.argsort(calls["comm"], kind="stable")]
        comms, starts, counts = np.unique(calls["comm"], return_index=True, return_counts=True)
        for comm, start, end in zip(comms.tolist(), starts.tolist(), (starts + counts).tolist(), strict=True):
            mine = np.stack([calls["operation"][start:end], _roots(calls[start:end])])
            first, theirs = reference.setdefault(comm, (rank, mine))
            seen.add((rank, comm))
            _compare(comm, (first, theirs), (rank, mine), source)
    for comm, (first, calls) in reference.items():
        for rank in communicators[comm].members.tolist():
            if (rank, comm) not in seen:
                number = calls.shape[1]
                raise RecordingError(
                    f"communicator {comm}: rank {first} makes {number:,} collective calls, and rank {rank} none.", source
                )


def _roots(calls: Rows) -> npt.NDArray[np.int32]:
    rooted = np.isin(calls["operation"], [OPERATIONS.index(name) for name in ROOTED])
    return np.where(rooted, calls["peer"], 0)


def _compare(comm: int, one: tuple[int, npt.NDArray[Any]], two: tuple[int, npt.NDArray[Any]], source: str) -> None:
    calls, others = one[1], two[1]
    length = min(calls.shape[1], others.shape[1])
    different = (calls[:, :length] != others[:, :length]).any(axis=0)
    if different.any():
        index = int(different.argmax())
        texts = [f"{OPERATIONS[each[0, index]]} with root {each[1, index]} on rank {rank}" for rank, each in (one, two)]
        raise RecordingError(f"communicator {comm}: collective call {index + 1:,} is {' and '.join(texts)}.", source)
    if calls.shape != others.shape:
        numbers = " and ".join(f"{each.shape[1]:,} on rank {rank}" for rank, each in (one, two))
        raise RecordingError(f"communicator {comm}: the numbers of collective calls differ: {numbers}.", source)
