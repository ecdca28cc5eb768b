"""The cases of benchmarks/datatypes.py pack and unpack the right bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.scripts import imported


@pytest.fixture(scope="module")
def datatypes() -> Any:
    """The script benchmarks/datatypes.py as a module."""
    return imported("datatypes")["datatypes"]


def test_packed_data_is_restored_by_a_message_and_by_unpacking(datatypes: Any) -> None:
    """In every case, small and larger: the packed size is about the requested size, and holes are unchanged."""
    for name in datatypes.CASES:
        for nbytes in (96, 4_000):
            case = datatypes.case(MPI, name, nbytes)
            assert nbytes / 4 < case.packed < nbytes + 1200
            memory = np.random.default_rng(1).integers(1, 256, case.memory, np.uint8)
            packed, other, sent = np.zeros(case.packed, np.uint8), np.zeros_like(memory), np.zeros_like(memory)
            assert case.datatype.Pack(memory, packed, 0, MPI.COMM_SELF) == case.packed
            assert case.datatype.Unpack(packed, 0, other, MPI.COMM_SELF) == case.packed
            MPI.COMM_SELF.Sendrecv([memory, case.count, case.datatype], 0, 0, [sent, case.count, case.datatype], 0, 0)
            assert np.array_equal(sent, other)
            assert np.count_nonzero(other) == case.packed
            assert np.array_equal(other[other > 0], memory[other > 0])


def test_the_table_has_a_line_for_every_case(datatypes: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes, and two numbers for each of three calls; or only rows for the selected cases."""
    fakempi.run(datatypes.main, 1, [], {"tiny": 96}, 0.0)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["tiny", "bytes", "Pack", "us", "GB/s", "Unpack", "us", "GB/s", "Sendrecv", "us", "GB/s"]
    assert [line[:24].strip() for line in lines] == [*datatypes.CASES]
    assert all(len(line[24:].split()) == 7 for line in lines)
    fakempi.run(datatypes.main, 1, ["struct", "resized"], {"tiny": 96}, 0.0)
    assert len(capsys.readouterr().out.splitlines()) == 3
