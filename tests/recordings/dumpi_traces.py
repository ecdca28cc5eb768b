"""Writes DUMPI traces as libdumpi does (dumpi/common/io.c and dumpiio.c), independently of the reader."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

MAGIC = bytes([0xFF, 0xAA, 0xDD]) + b"DUMPI"
CHAR, BYTE, INT, DOUBLE, USER = 2, 5, 9, 14, 28
WORLD, SELF = 2, 3
SUM = 3
LABELS = """
Send Recv Get_count Bsend Ssend Rsend Buffer_attach Buffer_detach Isend Ibsend Issend Irsend Irecv Wait Test
Request_free Waitany Testany Waitall Testall Waitsome Testsome Iprobe Probe Cancel Test_cancelled Send_init Bsend_init
Ssend_init Rsend_init Recv_init Start Startall Sendrecv Sendrecv_replace Type_contiguous Type_vector Type_hvector
Type_indexed Type_hindexed Type_struct Address Type_extent Type_size Type_lb Type_ub Type_commit Type_free Get_elements
Pack Unpack Pack_size Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce
Op_create Op_free Allreduce Reduce_scatter Scan Group_size Group_rank Group_translate_ranks Group_compare Comm_group
Group_union Group_intersection Group_difference Group_incl Group_excl Group_range_incl Group_range_excl Group_free
Comm_size Comm_rank Comm_compare Comm_dup Comm_create Comm_split Comm_free Comm_test_inter Comm_remote_size
Comm_remote_group Intercomm_create Intercomm_merge Keyval_create Keyval_free Attr_put Attr_get Attr_delete Topo_test
Cart_create Dims_create Graph_create Graphdims_get Graph_get Cartdim_get Cart_get Cart_rank Cart_coords
Graph_neighbors_count Graph_neighbors Cart_shift Cart_sub Cart_map Graph_map Get_processor_name Get_version
Errhandler_create Errhandler_set Errhandler_get Errhandler_free Error_string Error_class Wtime Wtick Init Finalize
Initialized Abort Pcontrol Close_port Comm_accept Comm_connect Comm_disconnect Comm_get_parent Comm_join Comm_spawn
Comm_spawn_multiple Lookup_name Open_port Publish_name Unpublish_name Accumulate Get Put
"""
FUNCTIONS = {name: number for number, name in enumerate(LABELS.split())}
"""Numbers of functions, from the labels of funclabels.h up to the one-sided calls."""

END_OF_STREAM = 293


class DumpiRank:
    """The trace of one rank; calls take a millisecond each, after the given computing time."""

    def __init__(self, version: tuple[int, int, int] = (0, 7, 1), statuses: bool = True, threads: bool = True) -> None:
        self.version, self.statuses, self.threads = version, statuses, threads
        self.data = MAGIC + struct.pack(">ii", 100, 5000)
        self.time = 0.5
        self.call("Init", "i", 1, b"\0\0\0\4work")

    def call(self, name: str, fields: str, *values: object, after: float = 0.0) -> None:
        """Append a record. Fields: i, h, b as in struct; A an array of i; S statuses (bytes, source, tag); x bytes."""
        start = self.time + after
        self.time = start + 1e-3
        mask = 8 | 4 | 3 * self.statuses | 64 * self.threads
        self.data += struct.pack(">HB", FUNCTIONS[name], mask) + (struct.pack(">H", 0) if self.threads else b"")
        self.data += struct.pack(">HIHI", 0, 0, 0, 1)  # CPU time
        for each in (start, self.time):
            self.data += struct.pack(">HI", int(each) % 65536, round((each - int(each)) * 1e9))
        self.arguments(fields, *values)

    def arguments(self, fields: str, *values: object) -> None:
        """Append arguments only."""
        for code, value in zip(fields + "x" * (len(values) - len(fields)), values, strict=True):
            if code == "x":
                assert isinstance(value, bytes)
                self.data += value
            elif code == "A":
                assert isinstance(value, Sequence)
                self.data += struct.pack(f">i{len(value)}i", len(value), *value)
            elif code == "S":
                assert isinstance(value, Sequence)
                if self.statuses:
                    self.data += struct.pack(">i", len(value))
                    for nbytes, source, tag in value:
                        self.data += struct.pack(">iibb", nbytes, source, 0, 0)
                        self.data += struct.pack(">i", tag) if self.version >= (0, 6, 3) else b""
            else:
                self.data += struct.pack(f">{code}", value)

    def end(self, sizes: bool = True) -> bytes:
        """Return the bytes of the whole file."""
        self.call("Finalize", "")
        body, data = 8, self.data + struct.pack(">H", END_OF_STREAM)
        header = len(data)
        data += struct.pack(">BBBQ", *self.version, 1234) + struct.pack(">H4sH2sii", 4, b"host", 2, b"me", 0, 0)
        footer = len(data)
        data += struct.pack(">Q", 0xF007FEE7) + bytes(4 * 2 * 298)
        keyval = len(data)
        data += struct.pack(">I", 0)
        table = len(data)
        known = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20, 24]
        data += struct.pack(f">I{len(known)}i", len(known), *known)
        index = [*([table] if sizes else []), 0, 0, header, body, footer, keyval]
        return data + MAGIC + struct.pack(f">{len(index)}Q", *index)


def write(directory: Path, ranks: Sequence[DumpiRank], sizes: bool = True) -> Path:
    """Write the metafile and the files of all ranks."""
    directory.mkdir(exist_ok=True)
    lines = [f"hostname=host\nnumprocs={len(ranks)}\nusername=me\nstarttime=2026.11.19\nfileprefix=dumpi-2026\nversion=1\n"]
    (directory / "dumpi-2026.meta").write_text("".join(lines))
    for number, rank in enumerate(ranks):
        (directory / f"dumpi-2026-{number:04d}.bin").write_bytes(rank.end(sizes))
    return directory


def example(ranks: int = 4, **options: object) -> list[DumpiRank]:
    """A program with most kinds of calls."""
    found = [DumpiRank(**options) for _ in range(ranks)]  # type: ignore[arg-type]  # passed on
    for rank, one in enumerate(found):
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        one.call("Comm_size", "hi", WORLD, ranks)
        one.call("Isend", "ihiihi", 10, DOUBLE, right, 5, WORLD, 2)
        one.call("Irecv", "ihiihi", 20, USER, -1, -1, WORLD, 3)
        one.call("Waitall", "iAS", 2, [2, 3], [(0, -1, -1), (80, left, 5)], after=0.25)
        one.call("Recv", "ihiihS", 3, INT, -2, 7, WORLD, [(0, -2, -1)])
        one.call("Sendrecv", "ihiiihiihS", 3, INT, right, 7, 2, INT, left, 7, WORLD, [(12, left, 7)])
        one.call("Allreduce", "ihbh", 4, DOUBLE, SUM, WORLD)
        one.call("Op_create", "ib", 0, 15)
        one.call("Reduce", "ihbih", 4, DOUBLE, 15, 1, WORLD)
        one.call("Comm_split", "hiih", WORLD, rank % 2, -rank, 4)
        one.call("Bcast", "ihih", 100, BYTE, 0, 4)
        counts = [each + 1 for each in range(ranks)]
        one.call("Allgatherv", "iihAAhh", ranks, rank + 1, DOUBLE, counts, counts, DOUBLE, WORLD)
        one.call("Gatherv", "iiihih", rank, ranks, rank + 1, INT, 1, WORLD)
        if rank == 1:
            one.arguments("AA", counts, counts)
        one.arguments("h", INT)
        one.call("Alltoallv", "iAAhAAhh", ranks, counts, counts, INT, counts, counts, INT, WORLD)
        one.call("Reduce_scatter", "iAhbh", ranks, counts, DOUBLE, SUM, WORLD)
        one.call("Gather", "iihih", rank, 5, INT, 0, WORLD)
        if rank == 0:
            one.arguments("ih", 5, INT)
        one.call("Put", "ihiiihh", 1, INT, 0, 0, 1, INT, 1)
        one.call("Barrier", "h", WORLD, after=0.125)
    return found
