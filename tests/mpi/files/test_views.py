"""Views: which bytes of a file are a rank's data, compared with filetypes laid out byte by byte."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.mpi.datatypes.typemap import all_runs
from fakempi.mpi.files.views import View


@st.composite
def filetypes(draw: st.DrawFn) -> MPI.Datatype:
    """Blocks of integers with gaps, and possibly a larger extent."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    gaps = draw(st.lists(st.integers(0, 3), min_size=len(lengths), max_size=len(lengths)))
    places, at = [], 0
    for length, gap in zip(lengths, gaps, strict=True):
        places.append(at + gap)
        at += gap + length
    return MPI.INT16_T.Create_indexed(lengths, places).Create_resized(0, 2 * (at + draw(st.integers(0, 3)))).Commit()


def laid_out(filetype: MPI.Datatype, displacement: int, bytes_of_data: int) -> list[int]:
    """The position of each byte of data, in order."""
    pieces, (_, extent) = filetype._definition.layout.pieces, filetype.Get_extent()
    one: list[int] = []
    for start, length in zip(*all_runs(pieces), strict=True):
        one += range(int(start), int(start + length))
    places: list[int] = []
    tile = 0
    while len(places) < bytes_of_data:
        places += [displacement + tile * extent + place for place in one]
        tile += 1
    return places[:bytes_of_data]


@given(filetypes(), st.integers(0, 9), st.integers(0, 12), st.integers(0, 20))
def test_runs_are_the_bytes_of_filetypes(filetype: MPI.Datatype, displacement: int, offset: int, count: int) -> None:
    """From any etype, for any count; adjacent bytes are one run."""
    view = View(displacement, MPI.INT16_T, filetype, "native")
    runs = list(view.runs(offset, 2 * count))
    expected = laid_out(filetype, displacement, 2 * (offset + count))[2 * offset :]
    assert [place for start, length in runs for place in range(start, start + length)] == expected
    assert all(one + length < two for (one, length), (two, _) in pairwise(runs))
    if count:
        assert view.byte(offset) == expected[0]


@given(filetypes(), st.integers(0, 9), st.integers(0, 80))
def test_the_end_is_after_the_last_etype_that_has_begun(filetype: MPI.Datatype, displacement: int, size: int) -> None:
    """In a file of any size."""
    places = laid_out(filetype, displacement, 400)
    begun = sum(place < size for place in places[::2])
    assert View(displacement, MPI.INT16_T, filetype, "native").end(size) == begun


@pytest.mark.parametrize(
    ("etype", "filetype", "datarep", "words"),
    [
        (MPI.INT, MPI.SHORT.Create_contiguous(3).Commit(), "native", "6 bytes, which is not a multiple of the etype's 4"),
        (MPI.INT, MPI.INT, "mine", "'mine' is not a data representation"),
        (MPI.INT, MPI.INT.Create_contiguous(2), "native", "not committed"),
        (MPI.INT, MPI.INT.Create_indexed([1, 1], [1, 0]).Commit(), "native", "must be nonnegative and increasing"),
        (MPI.INT, MPI.INT.Create_resized(0, 2).Commit(), "native", "must not overlap"),
        (MPI.DOUBLE, MPI.LONG, "external32", "4 bytes in the file, which is not a multiple of the etype's 8"),
    ],
)
def test_an_invalid_view_is_rejected(etype: MPI.Datatype, filetype: MPI.Datatype, datarep: str, words: str) -> None:
    """With the numbers that clash."""
    with pytest.raises(MPI.Exception, match=words):
        View(0, etype, filetype, datarep)


def test_the_end_of_a_file_in_a_view_is_the_first_etype_that_begins_there_or_later() -> None:
    """Also if a filetype does not begin at 0, so that its last bytes are beyond its extent. A count is compared."""
    filetypes = [
        MPI.INT.Create_indexed([1, 2], [1, 4]),
        MPI.INT.Create_indexed([1, 1], [3, 4]),
        MPI.INT.Create_vector(2, 1, 2),
        MPI.SHORT.Create_hindexed([2, 2], [6, 12]),
        MPI.INT.Create_subarray([4], [2], [1]),
    ]
    for displacement in (0, 3):
        for filetype in filetypes:
            view = View(displacement, MPI.SHORT, filetype.Commit(), "native")
            for size in range(90):
                assert view.end(size) == sum(view.byte(each) < size for each in range(90)), (displacement, size)
    for filetype in filetypes:
        filetype.Free()


@pytest.mark.parametrize("datarep", ["native", "external32"])
def test_the_view_of_a_rank_without_data(datarep: str) -> None:
    """As in MPICH its filetype may have no bytes, with any extent; only an access with data is an error."""
    nothing, one = MPI.DOUBLE.Create_contiguous(0), MPI.DOUBLE.Create_vector(1, 1, 2)
    struct, indexed = MPI.Datatype.Create_struct([], [], []), MPI.DOUBLE.Create_indexed([0], [2])
    for filetype in (nothing, struct, indexed, nothing.Create_resized(0, 64)):
        view = View(8, MPI.DOUBLE, filetype.Commit(), datarep)
        assert (view.byte(0), view.end(80), list(view.runs(0, 0))) == (8, 0, [])
        with pytest.raises(MPI.Exception, match="8 bytes of data, but the filetype of this rank's view has no bytes"):
            list(view.runs(0, 8))
    with pytest.raises(MPI.Exception, match="the etype has no bytes"):
        View(0, nothing.Commit(), one.Commit(), datarep)


def test_ranks_without_data_take_part_in_collective_accesses(tmp_path: Path) -> None:
    """Rank 0 writes every second element; rank 1 has an empty filetype."""

    def main(comm: MPI.Intracomm) -> list[float]:
        file = MPI.File.Open(comm, str(tmp_path / "file"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        filetype = (MPI.DOUBLE.Create_contiguous(0) if comm.rank else MPI.DOUBLE.Create_vector(2, 1, 2)).Commit()
        file.Set_view(0, MPI.DOUBLE, filetype)
        file.Write_all(np.full(0 if comm.rank else 2, 7.0))
        file.Set_view(0)
        found = np.zeros(3)
        file.Read_at_all(0, found)
        file.Close()
        filetype.Free()
        return [float(value) for value in found]

    assert fakempi.run(main, 2).returns == [[7.0, 0.0, 7.0]] * 2
