"""Two-phase access: contents of file and memory, and the claimed messages, accesses, scratch memory and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, UnsupportedCaseError, find
from collectives.catalogue.schedule import elapsed
from collectives.files.claims import accesses, has_closed_form, time_with_file
from collectives.files.two_phase import AccessFailedError
from collectives.tools.blocks import scratch_meter
from fakempi import Hockney
from fakempi.core.network.files import FileServer
from tests.helpers.breadth import examples

T_S, T_W, F_S, F_W = 7, 2, 1000, 3
COST = Hockney(T_S, T_W, eager_limit=0)
WRITE, READ = find("write_all", "two_phase"), find("read_all", "two_phase")


class Memory:
    """A file in memory that records its accesses."""

    def __init__(self, size: int) -> None:
        self.bytes = np.zeros(size, np.uint8)
        self.accesses: list[tuple[int, int]] = []

    def Write_at(self, offset: int, buf: Any) -> None:
        self.accesses.append((offset, buf.size))
        self.bytes[offset : offset + buf.size] = buf

    def Read_at(self, offset: int, buf: Any) -> None:
        self.accesses.append((offset, buf.size))
        buf[:] = self.bytes[offset : offset + buf.size]


def disjoint_runs(choice: list[tuple[int, int, int]], p: int) -> list[list[tuple[int, int]]]:
    """Return consecutive runs with holes between them, assigned to ranks by `choice`."""
    runs: list[list[tuple[int, int]]] = [[] for _ in range(p)]
    place = 0
    for hole, length, rank in choice:
        runs[rank % p].append((place + hole, length))
        place += hole + length
    return runs


CHOICES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 9)), max_size=24)


@given(choice=CHOICES, p=st.integers(1, 6), many=st.integers(1, 6), buffer_bytes=st.sampled_from([3, 8, 1000]))
@settings(max_examples=examples(25), deadline=None)
def test_any_runs_are_written_and_read_back(choice: Any, p: int, many: int, buffer_bytes: int) -> None:
    """Runs with holes, which do not change, ranks without runs, and any number of windows."""
    runs, how = disjoint_runs(choice, p), {"aggregators": min(many, p), "buffer_bytes": buffer_bytes}
    size = sum(hole + length for hole, length, _ in choice)
    file, expected = Memory(size), np.zeros(size, np.uint8)
    contents = [np.arange(sum(length for _, length in mine), dtype=np.uint8) + 10 * r + 1 for r, mine in enumerate(runs)]
    for mine, data in zip(runs, contents, strict=True):
        at = 0
        for start, length in mine:
            expected[start : start + length], at = data[at : at + length], at + length

    def main(comm: Any) -> list[int]:
        mine, data = runs[comm.rank], contents[comm.rank]
        WRITE.run(comm, file, mine, data, tag=3, **how)
        found = np.zeros_like(data)
        READ.run(comm, file, mine, found, tag=4, **how)
        return list(found)

    assert fakempi.run(main, p, cost=COST).returns == [list(data) for data in contents]
    assert file.bytes.tolist() == expected.tolist()


def round_robin_runs(case: Case, rank: int) -> list[tuple[int, int]]:
    """Return the runs of a rank for blocks that are assigned round robin."""
    b = case.itemsize
    return [((j * case.p + rank) * b, b) for j in range(case.m // b)]


CASES = st.builds(
    lambda p, n, b, many, buffer_bytes: Case(
        p, n * b, itemsize=b, parameters={"aggregators": min(many, p), "buffer_bytes": buffer_bytes}
    ),
    st.integers(1, 6), st.integers(0, 6), st.integers(1, 4), st.integers(1, 6), st.sampled_from([5, 12, 24, 10**6]),
)  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", [WRITE, READ], ids=repr)
@given(case=CASES)
@settings(max_examples=examples(25), deadline=None)
def test_messages_accesses_scratch_and_time_equal_the_claims(algorithm: Algorithm, case: Case) -> None:
    """For every rank, with a file that costs nothing."""
    p, file, used = case.p, Memory(case.p * case.m), [0] * case.p

    def main(comm: Any) -> None:
        def meter(nbytes: int) -> None:
            used[comm.rank] += nbytes

        token = scratch_meter.set(meter)
        data = np.zeros(case.m, np.uint8)
        algorithm.run(comm, file, round_robin_runs(case, comm.rank), data, **case.parameters)
        scratch_meter.reset(token)

    run = fakempi.run(main, p, cost=COST)
    assert run.time == algorithm.time(case, T_S, T_W) == elapsed(algorithm.schedule_for(case) or [], p, T_S, T_W)
    assert [nbytes for _, nbytes in run.sent] == [algorithm.sent(case, rank) for rank in range(p)]
    assert len(file.accesses) == accesses(case)
    if p > 1:  # with one rank, its blocks are one run
        assert used == [algorithm.scratch(case, rank) for rank in range(p)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", [WRITE, READ], ids=repr)
@given(case=CASES, ports=st.integers(1, 3))
@example(case=Case(4, 32, itemsize=2, parameters={"aggregators": 2, "buffer_bytes": 16}), ports=2)  # four windows each
@example(case=Case(6, 12, itemsize=1, parameters={"aggregators": 4, "buffer_bytes": 100}), ports=3)  # one waits
@settings(max_examples=examples(25), deadline=None)
def test_the_time_with_a_file_server_is_the_closed_form(
    algorithm: Algorithm, case: Case, ports: int, tmp_path_factory: Any
) -> None:
    """Measured with MPI.File on the emulator, which uses the requested algorithm."""
    expected = time_with_file(case, T_S, T_W, F_S, F_W, ports)
    if expected is None:
        assert not has_closed_form(case) or case.parameters["aggregators"] > ports
        return
    from fakempi import MPI

    name = tmp_path_factory.mktemp("two_phase") / "file"
    name.write_bytes(bytes(case.p * case.m))

    def main(comm: Any) -> None:
        file = MPI.File.Open(comm, name, MPI.MODE_RDWR)
        turn = MPI.BYTE.Create_contiguous(case.itemsize).Create_resized(0, case.itemsize * comm.size).Commit()
        file.Set_view(case.itemsize * comm.rank, MPI.BYTE, turn)
        call = file.Write_all if algorithm is WRITE else file.Read_all
        call(np.zeros(case.m, np.uint8))
        file.Close()

    cost = Hockney(T_S, T_W, eager_limit=0, files=FileServer(F_S, F_W, ports))
    requested = {algorithm.operation: ("two_phase", case.parameters)}
    assert fakempi.run(main, case.p, cost=cost, algorithms=requested).time == expected


def test_overlapping_writes_keep_the_bytes_of_the_highest_rank() -> None:
    """The order of messages does not matter."""
    file = Memory(8)

    def main(comm: Any) -> None:
        WRITE.run(comm, file, [(comm.rank, 4)], np.full(4, comm.rank + 1, np.uint8), aggregators=2)

    fakempi.run(main, 4)
    assert file.bytes.tolist() == [1, 2, 3, 4, 4, 4, 4, 0]


def test_all_ranks_raise_if_an_access_fails() -> None:
    """The aggregator raises its error, the others AccessFailedError with its class."""

    class Full(Memory):
        def Write_at(self, offset: int, buf: Any) -> None:
            raise OSError(28, "no space left")

    def main(comm: Any) -> str:
        with pytest.raises(OSError, match="no space left|another rank could not access the file") as caught:
            WRITE.run(comm, Full(8), [(2 * comm.rank, 2)], np.zeros(2, np.uint8))
        return type(caught.value).__name__

    assert fakempi.run(main, 3).returns == ["OSError", "AccessFailedError", "AccessFailedError"]
    assert AccessFailedError(39).code == 39


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"aggregators": 4}, "aggregators = 4 is not between 1 and p = 3"),
        ({"aggregators": 0}, "aggregators = 0 is not between 1 and p = 3"),
        ({"buffer_bytes": 0}, "buffer_bytes = 0 is not positive"),
    ],
)
def test_invalid_parameters_raise(parameters: dict[str, int], message: str) -> None:
    """No message is sent."""

    def main(comm: Any) -> None:
        with pytest.raises(UnsupportedCaseError, match=f"write_all two_phase: {message}"):
            WRITE.run(comm, Memory(1), [], np.zeros(0, np.uint8), **parameters)

    assert sum(messages for messages, _ in fakempi.run(main, 3).sent) == 0


def test_overlapping_runs_and_buffers_of_the_wrong_size_raise() -> None:
    """On one rank, so that no other rank blocks."""

    def main(comm: Any) -> None:
        with pytest.raises(ValueError, match="runs of bytes must have increasing, non-negative offsets"):
            WRITE.run(comm, Memory(9), [(4, 2), (0, 2)], np.zeros(4, np.uint8))
        with pytest.raises(ValueError, match="the data have 3 bytes, but the runs have 4"):
            WRITE.run(comm, Memory(9), [(0, 4)], np.zeros(3, np.uint8))
        with pytest.raises(ValueError, match="the buffer has 3 bytes, but the runs have 4"):
            READ.run(comm, Memory(9), [(0, 4)], np.zeros(3, np.uint8))

    fakempi.run(main, 1)
