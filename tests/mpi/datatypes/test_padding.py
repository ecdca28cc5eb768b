"""Padding of elements: which bytes it has, and that it does not reach files, packed data, hashes or results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.modelcheck.search.outcomes import equal
from fakempi.modelcheck.steering.state_hash import content_of
from fakempi.mpi.datatypes.long_doubles import LongDoubleFormat
from fakempi.mpi.datatypes.padding import clear_packed, clear_padding, has_padding, padding_of, value_bytes

X86 = LongDoubleFormat("extended", 16, "little")
SIZE = np.dtype("g").itemsize
# The positions below are those of 16 bytes; machines with another size of long double test `LongDoubleFormat.padding` alone.
sixteen_bytes = pytest.mark.skipif(SIZE != 16, reason="long double does not have 16 bytes here")


def dirty(values: Any, dtype: str, garbage: int) -> Any:
    """An array of these values whose padding is garbage."""
    found = np.empty(len(values), dtype)
    found.view(np.uint8)[:] = garbage
    found[...] = values
    padding = padding_of(found.dtype)
    found.view(np.uint8).reshape(-1, found.itemsize)[:, list(padding)] = garbage
    return found


@sixteen_bytes
def test_padding_of_numpys_types() -> None:
    """Parts of complex numbers, fields, arrays of fields, and holes between fields."""
    assert padding_of(np.dtype("g"), X86) == tuple(range(10, 16))
    assert padding_of(np.dtype("g").newbyteorder(), X86) == tuple(range(6))
    assert padding_of(np.dtype("G"), X86) == (*range(10, 16), *range(26, 32))
    assert padding_of(np.dtype("g"), LongDoubleFormat("quadruple", 16, "little")) == ()
    for letter in "?bhilqefdFD":
        assert padding_of(np.dtype(letter), X86) == ()
    aligned = np.dtype([("flag", "i1"), ("pair", [("x", "g"), ("n", "i4")], 2)], align=True)
    used = [0, *range(16, 26), *range(32, 36), *range(48, 58), *range(64, 68)]
    assert padding_of(aligned, X86) == tuple(sorted(set(range(aligned.itemsize)) - set(used)))


@sixteen_bytes
def test_packed_elements_of_derived_types_are_cleared_where_they_have_padding() -> None:
    """Compared with numpy: positions are those of the basic types, in packed order."""
    pair = MPI.LONG_DOUBLE_INT
    members = [pair, MPI.CHAR, MPI.LONG_DOUBLE, MPI.C_LONG_DOUBLE_COMPLEX]
    struct = MPI.Datatype.Create_struct([2, 1, 0, 3], [0, 200, 0, 100], members)
    for made in (pair, struct, struct.Create_vector(3, 2, 4), MPI.LONG_DOUBLE.Create_contiguous(5)):
        definition = made._definition
        assert has_padding(definition, X86)
        assert not has_padding(definition, LongDoubleFormat("quadruple", 16, "little"))
        for count in (0, 1, 3):
            data = np.full(count * made.Get_size(), 255, np.uint8)
            clear_packed(definition, data, count, X86)
            number, mixed = [255] * 10 + [0] * 6, []
            for times, kind in ((2, "pair"), (1, "byte"), (3, "complex")):
                mixed += {"pair": number + [255] * 4, "byte": [255], "complex": number * 2}[kind] * times
            one = number + [255] * 4 if made is pair else mixed if made is struct else number * 5
            one = mixed * 6 if made.Get_size() == 6 * struct.Get_size() else one
            assert data.tolist() == one * count
    for other in (MPI.DOUBLE, MPI.DOUBLE_INT, MPI.INT.Create_vector(3, 2, 4)):
        assert not has_padding(other._definition, X86)


def test_arrays_of_equal_values_have_equal_bytes() -> None:
    """Contiguous or not, in state hashes and in comparisons of results; the arrays themselves are unchanged."""
    for letter in "gG":
        one, other = dirty([1, -2, np.nan, 4], letter, 7), dirty([1, -2, np.nan, 4], letter, 99)
        before = one.tobytes()
        assert value_bytes(one) == value_bytes(other)
        assert value_bytes(one[::2]) == value_bytes(other[::2])
        assert value_bytes(one[:2]) != value_bytes(other[2:])
        assert equal(one, other)
        assert one.tobytes() == before
        envelopes = [type("Sent", (), {"payload": each})() for each in (one, other)]
        assert content_of(envelopes[0]) == content_of(envelopes[1])
        clear_padding(one[1::2])
        clear_padding(other[1::2])
        assert one[1::2].tobytes() == other[1::2].tobytes()


PAIR = np.dtype([("value", "g"), ("index", "i4")], align=True)


def dirty_pairs(values: list[float], garbage: int) -> Any:
    """The same for pairs, whose holes are garbage too."""
    pairs = np.empty(len(values), PAIR)
    pairs.view(np.uint8)[:] = garbage
    pairs["value"], pairs["index"] = dirty(values, "g", garbage), range(len(values))
    return pairs


@pytest.mark.parametrize("garbage", [1, 254])
def test_files_and_packed_data_contain_no_garbage(tmp_path: Path, garbage: int) -> None:
    """By each path to a file: plain, in a list, of a derived type, in a view, collectively; and by Pack."""
    values = [1.5, -2.0]
    clean = value_bytes(np.array(values, "g"))

    def main(comm: Any) -> bytes:
        mine, spread = dirty(values, "g", garbage), dirty([1.5, 0, -2.0], "g", garbage)
        every_other = MPI.LONG_DOUBLE.Create_vector(2, 1, 2).Commit()
        file = MPI.File.Open(comm, str(tmp_path / "numbers"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        file.Write(mine)
        file.Write([mine, MPI.LONG_DOUBLE])
        file.Write([spread, 1, every_other])
        file.Write([dirty_pairs(values, garbage), 2, MPI.LONG_DOUBLE_INT])
        file.Set_view(file.Get_size(), MPI.LONG_DOUBLE)
        file.Write_at_all(0, mine)
        file.Close()
        every_other.Free()
        packed = np.full(2 * SIZE, garbage, np.uint8)
        MPI.LONG_DOUBLE.Pack(mine, packed, 0, comm)
        return packed.tobytes()

    assert fakempi.run(main, 1).returns == [clean]
    in_pairs = b"".join(clean[i * SIZE : (i + 1) * SIZE] + np.int32(i).tobytes() for i in range(2))
    assert (tmp_path / "numbers").read_bytes() == clean * 3 + in_pairs + clean


@pytest.mark.parametrize("fused", ["auto", "never"])
def test_results_of_reductions_contain_no_garbage(fused: Any) -> None:
    """Each byte of a combined number is determined by the values; holes of pairs are unchanged."""

    def main(comm: Any, garbage: int) -> list[bytes]:
        found, values = [], [1.5, -2.0 - comm.rank]
        for letter, op in (("g", MPI.SUM), ("G", MPI.PROD), ("g", MPI.MAX)):
            total = dirty([9, 9], letter, garbage)
            comm.Allreduce(dirty(values, letter, garbage), total, op)
            found.append(total.tobytes())
            op.Reduce_local(dirty(values, letter, garbage), total)
            op.Reduce_local([dirty(values, letter, garbage), 2], [total, 2])
            found.append(total.tobytes())
        best = dirty_pairs([9.0, 9.0], garbage)
        comm.Allreduce([dirty_pairs(values, garbage), MPI.LONG_DOUBLE_INT], [best, MPI.LONG_DOUBLE_INT], MPI.MAXLOC)
        holes = best.view(np.uint8).reshape(2, -1)[:, SIZE + 4 :]
        assert (holes == garbage).all()
        return [*found, best["value"].tobytes(), best["index"].tobytes()]

    assert fakempi.run(main, 4, 1, fused=fused).returns == fakempi.run(main, 4, 254, fused=fused).returns
