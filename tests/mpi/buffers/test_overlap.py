"""Memory that is sent and received at once, or received into twice, is reported if it overlaps, and only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.mpi.buffers.overlap import any_share_bytes, have_overlap, share_bytes
from fakempi.mpi.buffers.payload import describe

HERE = "test_overlap.py"
BOTH = "sendbuf and recvbuf overlap"
BLOCKS = "blocks of recvbuf overlap"


def findings_of(main: Callable[[Any], Any], nprocs: int = 2, **options: Any) -> list[tuple[str, str]]:
    """The calls and sentences of a run's findings, all of which are overlaps."""
    findings = fakempi.run(main, nprocs, **options).findings
    assert {one.kind for one in findings} <= {"buffer-overlap"}
    return [(one.call, one.sentence) for one in findings]


def column(which: int, rows: int = 4, columns: int = 4) -> Any:
    """A datatype for a column of a matrix."""
    return MPI.DOUBLE.Create_hindexed_block(1, [8 * (which + columns * i) for i in range(rows)]).Commit()


def test_a_sendrecv_of_overlapping_memory_is_reported(backend: Any) -> None:
    """With its place, and once for all ranks."""

    def main(comm: Any) -> None:
        data, peer = np.zeros(8), 1 - comm.Get_rank()
        comm.Sendrecv(data[:5], peer, 0, data[3:], peer)

    place = f"{HERE}:{main.__code__.co_firstlineno + 2}"
    assert [str(one) for one in fakempi.run(main, 2, backend=backend).findings] == [
        f"buffer-overlap: ranks 0-1: Sendrecv at {place}: {BOTH}"
    ]
    with pytest.raises(fakempi.FindingsError, match=BOTH):
        fakempi.run(main, 2, strict=True, backend=backend)


MATRIX = np.zeros((4, 4))

PAIRS: dict[str, tuple[Any, Any, bool]] = {
    "the same array": (MATRIX, MATRIX, True),
    "rows next to each other": (MATRIX[0], MATRIX[1], False),
    "rows that share an element": (MATRIX.ravel()[0:4], MATRIX.ravel()[3:7], True),
    "columns next to each other": ([MATRIX, 1, column(0)], [MATRIX, 1, column(1)], False),
    "the same column": ([MATRIX, 1, column(2)], [MATRIX, 1, column(2)], True),
    "a column and a row": ([MATRIX, 1, column(2)], MATRIX[3], True),
    "a column and what is before it": ([MATRIX, 1, column(2, rows=2)], MATRIX[0, :2], False),
    "other names for it": (MATRIX[0].view("u8"), memoryview(MATRIX[0]), True),
    "separate arrays": (np.zeros(4), np.zeros(4), False),
    "nothing of the same array": (MATRIX[0, :0], MATRIX[0], False),
    "phantoms": (fakempi.phantom(32), fakempi.phantom(32), False),
}


@pytest.mark.parametrize("case", PAIRS)
def test_bytes_are_compared_and_not_bounds(case: str) -> None:
    """Memory between the elements does not overlap."""
    one, other, expected = PAIRS[case]
    assert share_bytes(describe(one)[0], describe(other)[0]) == expected

    def main(comm: Any) -> None:
        peer = 1 - comm.Get_rank()
        comm.Isendrecv(one, peer, 0, other, peer).Wait()
        comm.Sendrecv(one, peer, 0, other, peer)

    calls = [one.call for one in fakempi.run(main, 2).findings if one.sentence == BOTH]
    assert calls == ["Isendrecv", "Sendrecv"] * expected


def test_buffers_for_proc_null_do_not_overlap() -> None:
    """PROC_NULL ignores buffers."""
    data = np.zeros(2)
    assert findings_of(lambda comm: comm.Sendrecv(data, MPI.PROC_NULL, 0, data, MPI.PROC_NULL), 1) == []
    assert findings_of(lambda comm: comm.Sendrecv_replace(data, 0, 0, 0), 1) == []


def test_collectives_of_overlapping_memory_are_reported() -> None:
    """Wherever they overlap; equal start addresses are an error, as before."""

    def main(comm: Any) -> None:
        rank, p, data = comm.Get_rank(), comm.Get_size(), np.zeros(20)
        comm.Allgather(data[1:2], data[:p])
        comm.Allreduce(data[:4], data[3:7])
        comm.Gather(data[rank + 1 : rank + 2], data[:p] if rank == 0 else None)
        comm.Alltoallv([data[1:], [1] * p], [data, ([1] * p, [2 * i for i in range(p)])])
        comm.Allgather(data[10:11], data[:p])

    calls = findings_of(main, 3)
    assert sorted(calls) == [(call, BOTH) for call in ("Allgather", "Allreduce", "Alltoallv", "Gather")]


def test_overlapping_blocks_are_reported_if_they_are_received_into() -> None:
    """A sender may send the same block twice."""

    def main(comm: Any) -> None:
        rank, p = comm.Get_rank(), comm.Get_size()
        into = [np.zeros(9), ([2] * p, [0, 1, 4])]
        comm.Gatherv(np.zeros(2), into if rank == 0 else None)
        comm.Scatterv(into if rank == 0 else None, np.zeros(2))
        comm.Allgatherv(np.zeros(2), [np.zeros(9), ([2] * p, [6, 3, 0])])
        comm.Alltoallv([np.zeros(9), ([2] * p, [0, 0, 0])], into)
        doubles = [MPI.DOUBLE] * p
        comm.Alltoallw([np.zeros(9), [1] * p, [0] * p, doubles], [np.zeros(9), [1] * p, [0, 4, 16], doubles])
        comm.Alltoallv([np.zeros(9), [0] * p], [np.zeros(9), ([0] * p, [0, 0, 0])])

    calls = findings_of(main, 3)
    assert calls == [(call, BLOCKS) for call in ("Gatherv", "Alltoallv", "Alltoallw")]


def test_a_datatype_that_overlaps_itself_is_reported_if_it_is_received_into() -> None:
    """It may be sent; so may interleaved elements."""

    def main(comm: Any) -> None:
        steps = MPI.INT.Create_vector(3, 2, 1).Commit()
        close = MPI.INT.Create_contiguous(2).Create_resized(0, 4).Commit()
        data, peer = np.zeros(8, "i4"), 1 - comm.Get_rank()
        for kind, count in ((steps, 1), (close, 1), (close, 3)):
            comm.Sendrecv([data, count, kind], peer, 0, np.zeros(8, "i4"), peer)
            comm.Sendrecv(np.zeros(2, "i4"), peer, 0, [np.zeros(8, "i4"), count, kind], peer)
        comm.Bcast([data, 1, steps])
        steps.Free()
        close.Free()

    end = "overlaps itself, so some bytes are received twice"
    calls = findings_of(main, 2)
    assert calls == [
        ("Sendrecv", f"count 1 of VECTOR of INT {end}"),
        ("Sendrecv", f"count 3 of RESIZED of CONTIGUOUS of INT {end}"),
        ("Bcast", f"count 1 of VECTOR of INT {end}"),
    ]


@pytest.mark.parametrize(("second", "expected"), [(8, []), (4, [("Alltoallw", BLOCKS)])])
def test_blocks_at_absolute_addresses_are_compared_by_address(second: int, expected: list[tuple[str, str]]) -> None:
    """BOTTOM has no base address, and a phantom has no memory."""

    def main(comm: Any) -> None:
        kinds, into = [MPI.DOUBLE] * 2, np.zeros(2)
        at = MPI.Get_address(into)
        comm.Alltoallw([np.zeros(2), [1, 1], [0, 8], kinds], [MPI.BOTTOM, [1, 1], [at, at + second], kinds])
        hollow = fakempi.phantom(16)
        comm.Alltoallw([hollow, [1, 1], [0, 8], kinds], [hollow, [1, 1], [0, 4], kinds])

    assert findings_of(main) == expected


def touched(blocks: list[tuple[int, int]], at: int) -> list[int]:
    """Every byte of some blocks, with multiplicity."""
    return [at + start + i for start, length in blocks for i in range(length)]


blocks = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=4)


@given(blocks, blocks, st.integers(0, 20), st.integers(0, 20), st.integers(1, 2))
def test_every_byte_is_compared(
    one: list[tuple[int, int]], other: list[tuple[int, int]], here: int, there: int, count: int
) -> None:
    """For any datatypes and places; compared with a list of all bytes."""
    memory, payloads, bytes_of = np.zeros(64, "u1"), [], []
    for form, at in ((one, here), (other, there)):
        kind = MPI.BYTE.Create_indexed([length for _, length in form], [start for start, _ in form]).Create_resized(0, 10)
        payloads.append(describe([memory[at:], count, kind.Commit()])[0])
        bytes_of.append([byte + 10 * i for i in range(count) for byte in touched(form, at)])
    expected = bool(set(bytes_of[0]) & set(bytes_of[1]))
    assert share_bytes(*payloads) == expected
    assert any_share_bytes(payloads[:1] * 2, payloads[1:]) == expected
    assert have_overlap(payloads[:1]) == (len(set(bytes_of[0])) < len(bytes_of[0]))
    assert have_overlap(payloads) == (len({*bytes_of[0], *bytes_of[1]}) < len(bytes_of[0]) + len(bytes_of[1]))
