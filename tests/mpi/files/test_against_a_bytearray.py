"""Files compared with a bytearray, and for each view the list of places of its elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.breadth import examples

BASIC = {"i2": (MPI.INT16_T, 2), "f8": (MPI.DOUBLE, 8), "l": (MPI.LONG, 4), "u1": (MPI.BYTE, 1)}
"""Types by numpy's names, and their bytes in external32, where C's long has another size."""


@dataclass(frozen=True)
class Seen:
    """A rank's view: elements in a tile by their number from its beginning, or by bytes; and the length of a tile."""

    displacement: int
    code: str
    places: tuple[int, ...]  # positions of elements in a tile, in elements
    room: int  # elements in a tile
    external: bool
    in_bytes: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.code)

    @property
    def stored(self) -> np.dtype[Any]:
        """The representation in the file."""
        return np.dtype({"l": ">i4"}.get(self.code, self.dtype.newbyteorder(">"))) if self.external else self.dtype

    @property
    def width(self) -> int:
        """Bytes of an element in the file."""
        return BASIC[self.code][1] if self.external else self.dtype.itemsize

    def filetype(self) -> MPI.Datatype:
        """The same for MPI: lengths in bytes are those of the file."""
        basic = BASIC[self.code][0]
        if self.in_bytes:
            made = basic.Create_hindexed_block(1, [self.width * place for place in self.places])
        else:
            made = basic.Create_indexed_block(1, list(self.places))
        return made.Create_resized(0, self.width * self.room).Commit()

    def place(self, k: int) -> int:
        """The position of element k in the file."""
        tile, number = divmod(k, len(self.places))
        return self.displacement + (tile * self.room + self.places[number]) * self.width

    def encoded(self, values: Any) -> list[bytes]:
        """Each element in the representation of the file."""
        return [values[k : k + 1].astype(self.stored).tobytes() for k in range(len(values))]

    def decoded(self, data: bytes) -> bytes:
        """Return the bytes read, as in memory: whole elements in the portable representation, otherwise all bytes."""
        whole = len(data) // self.width * self.width
        return np.frombuffer(data[:whole], self.stored).astype(self.dtype).tobytes() if self.external else data


@dataclass
class Oracle:
    """The file."""

    content: bytearray = field(default_factory=bytearray)

    def write(self, view: Seen, at: int, values: Any) -> None:
        for k, data in enumerate(view.encoded(values), at):
            end = view.place(k) + len(data)
            self.content.extend(bytes(max(0, end - len(self.content))))
            self.content[view.place(k) : end] = data

    def read(self, view: Seen, at: int, count: int) -> bytes:
        """The bytes up to the first missing one."""
        data = b"".join(self.content[view.place(k) : view.place(k) + view.width] for k in range(at, at + count))
        return view.decoded(data)


@st.composite
def views(draw: st.DrawFn, code: str, external: bool) -> Seen:
    """With holes before, between and after the elements, or without."""
    places = sorted(draw(st.sets(st.integers(0, 5), min_size=1, max_size=4)))
    room = places[-1] + 1 + draw(st.integers(0, 2))
    return Seen(draw(st.integers(0, 5)), code, tuple(places), room, external, draw(st.booleans()))


WAYS = ("at", "own", "nonblocking", "at_all", "all", "split", "i_all")
STEPS = st.lists(st.tuples(st.sampled_from(WAYS), st.booleans(), st.integers(0, 6), st.integers(0, 7)), max_size=5)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Seen], Any]:
    """A view for each rank, all with the same etype, and steps: call, whether to write, position and count."""
    code, external = draw(st.sampled_from(sorted(BASIC))), draw(st.booleans())
    return [draw(views(code, external)) for _ in range(draw(st.integers(1, 3)))], draw(STEPS)


def clash(seen: list[Seen], at: int, count: int) -> bool:
    """Whether ranks would write the same bytes; MPI does not specify the result: our algorithm keeps the last rank's."""
    bytes_of = [{view.place(k) + byte for k in range(at, at + count) for byte in range(view.width)} for view in seen]
    return len(set().union(*bytes_of)) < sum(map(len, bytes_of))


def access(file: Any, way: str, write: bool, at: int, buf: Any, status: Any) -> None:
    """One of MPI's calls."""
    verb = "Write" if write else "Read"
    if way in ("own", "all", "nonblocking", "i_all"):
        file.Seek(at)
    if way == "at":
        getattr(file, f"{verb}_at")(at, buf, status)
    elif way == "own":
        getattr(file, verb)(buf, status)
    elif way == "at_all":
        getattr(file, f"{verb}_at_all")(at, buf, status)
    elif way == "all":
        getattr(file, f"{verb}_all")(buf, status)
    elif way == "split":
        getattr(file, f"{verb}_at_all_begin")(at, buf)
        getattr(file, f"{verb}_at_all_end")(buf, status)
    else:
        suffix = "_all" if way == "i_all" else ""
        getattr(file, f"I{verb.lower()}{suffix}")(buf).Wait(status)


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", [None, "two_phase"])
@given(program=programs(), many=st.integers(1, 3), buffer_bytes=st.sampled_from([3, 64]))
@settings(max_examples=examples(20), deadline=None)
def test_a_file_equals_a_bytearray(
    algorithm: Any, program: Any, many: int, buffer_bytes: int, tmp_path_factory: Any
) -> None:
    """Through any views, in native and portable representation, by every call."""
    seen, steps = program
    size, path = len(seen), str(tmp_path_factory.mktemp("bytearray") / "file")
    how = (algorithm, {"aggregators": min(many, size), "buffer_bytes": buffer_bytes})

    def main(comm: MPI.Intracomm) -> list[Any]:
        rank = comm.Get_rank()
        results: list[Any] = []
        view = seen[rank]
        file = MPI.File.Open(comm, path, MPI.MODE_RDWR | MPI.MODE_CREATE)
        filetype = view.filetype()
        file.Set_view(view.displacement, BASIC[view.code][0], filetype, "external32" if view.external else "native")
        for number, (asked_way, write, at, count) in enumerate(steps):
            way = asked_way
            together = way in ("at_all", "all", "split", "i_all")
            if together and write and algorithm is None and clash(seen, at, count):
                way, together = "at", False
            for turn in range(size) if not together else [rank]:
                comm.Barrier()
                if turn != rank:
                    continue
                buf, status = np.full(count, 10 * number + rank if write else 77, view.dtype), MPI.Status()
                access(file, way, write, at, buf, status)
                results.append((buf.tobytes(), status.Get_count(MPI.BYTE)))
            comm.Barrier()
        results.append(file.Get_size())
        file.Close()
        filetype.Free()
        return results

    oracle = Oracle()
    expected: list[list[Any]] = [[] for _ in range(size)]
    for number, (_, write, at, count) in enumerate(steps):
        for rank, view in enumerate(seen):
            values = np.full(count, 10 * number + rank).astype(view.dtype)
            if write:
                oracle.write(view, at, values)
                expected[rank].append((values.tobytes(), values.nbytes))
        for rank, view in enumerate(seen):
            if not write:
                found, before = oracle.read(view, at, count), np.full(count, 77, view.dtype).tobytes()
                expected[rank].append((found + before[len(found) :], len(found)))
    requested = None if algorithm is None else {"write_all": how, "read_all": how}
    returns = fakempi.run(main, size, algorithms=requested).returns
    assert Path(path).read_bytes() == bytes(oracle.content)
    assert returns == [[*each, len(oracle.content)] for each in expected]
