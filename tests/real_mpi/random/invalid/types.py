"""Datatypes from invalid arguments, and queries of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene


def _make(s: Scene, base: Any) -> Any:
    """Any constructor with valid numbers."""
    name, args = s.pick(
        ("Create_contiguous", (2,)),
        ("Create_vector", (2, 1, 2)),
        ("Create_hvector", (2, 1, 8)),
        ("Create_indexed", ([1, 1], [0, 2])),
        ("Create_hindexed", ([1, 1], [0, 8])),
        ("Create_indexed_block", (1, [0, 2])),
        ("Create_hindexed_block", (1, [0, 8])),
        ("Create_subarray", ([4], [2], [1])),
        ("Create_resized", (0, 16)),
        ("Dup", ()),
    )
    return getattr(base, name)(*args)


def _counts(s: Scene) -> Any:
    """Any constructor with a negative count."""
    bad = s.pick(-1, -3)
    name, args = s.pick(
        ("Create_contiguous", (bad,)),
        ("Create_vector", (bad, 1, 2)),
        ("Create_vector", (2, bad, 2)),
        ("Create_hvector", (bad, 1, 8)),
        ("Create_hvector", (2, bad, 8)),
        ("Create_indexed", ([1, bad], [0, 2])),
        ("Create_hindexed", ([bad, 1], [0, 8])),
        ("Create_indexed_block", (bad, [0, 2])),
        ("Create_hindexed_block", (bad, [0, 8])),
        ("Create_subarray", ([4], [2], [bad])),
        ("Create_subarray", ([4], [2], [1], 99)),
    )
    return getattr(s.MPI.INT, name)(*args)


def _struct(s: Scene) -> Any:
    MPI = s.MPI
    lengths, places, types = s.pick(
        ([-1, 1], [0, 8], [MPI.INT, MPI.INT]),
        ([1, 1], [0, 8], [MPI.INT, MPI.DATATYPE_NULL]),
        ([1], [0, 8], [MPI.INT, MPI.INT]),
        ([1, 1], [0], [MPI.INT, MPI.INT]),
    )
    return MPI.Datatype.Create_struct(lengths, places, types)


def _darray(s: Scene) -> Any:
    MPI = s.MPI
    size, rank, sizes, distributions, arguments, grid, order = s.pick(
        (2, 2, [4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2], MPI.ORDER_C),
        (2, -1, [4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2], MPI.ORDER_C),
        (-2, 0, [4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2], MPI.ORDER_C),
        (2, 0, [-4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2], MPI.ORDER_C),
        (2, 0, [4], [MPI.DISTRIBUTE_BLOCK], [1], [2], MPI.ORDER_C),
        (2, 0, [4], [MPI.DISTRIBUTE_BLOCK], [-9], [2], MPI.ORDER_C),
        (2, 0, [4], [MPI.DISTRIBUTE_NONE], [MPI.DISTRIBUTE_DFLT_DARG], [2], MPI.ORDER_C),
        (2, 0, [4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2], 999),
    )
    return MPI.INT.Create_darray(size, rank, sizes, distributions, arguments, grid, order)


def _query(s: Scene, datatype: Any) -> Any:
    name = s.pick(
        "Get_size", "Get_extent", "Get_true_extent", "Get_envelope", "Get_contents", "Get_name", "Commit", "Dup", "Free"
    )
    result = getattr(datatype, name)()
    return "accepted" if isinstance(result, (tuple, type(datatype))) else result


def _pack(s: Scene) -> Any:
    """A buffer that is too small, or a position outside."""
    MPI = s.MPI
    into = bytearray(8)
    call = s.pick("Pack", "Unpack", "Pack_external", "Unpack_external")
    position = s.pick(0, 4, 8) if s.pick(True, False) else s.pick(-1, 9, 100)
    count = s.pick(1, 2, 3)
    data = [s.ints, count, MPI.INT]
    args = {
        "Pack": (data, into, position, s.comm),
        "Unpack": (into, position, data, s.comm),
        "Pack_external": ("external32", data, into, position),
        "Unpack_external": ("external32", into, position, data),
    }
    return getattr(MPI.INT, call)(*args[call])


def _external(s: Scene) -> Any:
    name = s.pick("external64", "native", "", "nonsense")
    call = s.pick("Pack_external_size", "Pack_external", "Unpack_external")
    if call == "Pack_external_size":
        return s.MPI.INT.Pack_external_size(name, 2)
    args = (s.ints[:1], bytearray(8), 0) if call == "Pack_external" else (bytearray(8), 0, s.ints[:1])
    return getattr(s.MPI.INT, call)(name, *args)


def _status(s: Scene) -> Any:
    MPI, status = s.MPI, s.MPI.Status()
    call = s.pick("Set_elements", "Get_count", "Get_elements")
    if call == "Set_elements":
        return status.Set_elements(*s.pick((MPI.DATATYPE_NULL, 1), (MPI.INT, -1), (MPI.INT, -5)))
    return getattr(status, call)(MPI.DATATYPE_NULL)


def _key(s: Scene) -> Any:
    MPI = s.MPI
    call = s.pick("Get_attr", "Set_attr", "Delete_attr")
    key = MPI.Comm.Create_keyval()
    made = s.keep(MPI.INT.Dup())
    try:
        return getattr(made, call)(*([key, 1] if call == "Set_attr" else [key]))
    finally:
        MPI.Comm.Free_keyval(key)


CASES: dict[str, Callable[[Scene], Any]] = {
    "type of null": lambda s: _make(s, s.MPI.DATATYPE_NULL),
    "type: count": _counts,
    "type: struct": _struct,
    "type: darray": _darray,
    "type: lists of different lengths": lambda s: getattr(s.MPI.INT, s.pick("Create_indexed", "Create_hindexed"))(
        [1], [0, 1]
    ),
    "type: subarray": lambda s: s.MPI.INT.Create_subarray(
        *s.pick(([4], [5], [0]), ([0], [0], [0]), ([4], [0], [0]), ([-3], [2], [1]), ([4], [-1], [1]))
    ),
    "type query of null": lambda s: _query(s, s.MPI.Datatype()),
    "Datatype.Free of predefined": lambda s: s.MPI.Datatype(s.pick(s.MPI.INT, s.MPI.DOUBLE_INT, s.MPI.BYTE)).Free(),
    "Get_contents of named": lambda s: s.pick(s.MPI.INT, s.MPI.DOUBLE_INT).Get_contents(),
    "Create_f90_integer": lambda s: s.MPI.Datatype.Create_f90_integer(s.pick(100, 40, -1)),
    "Create_f90_real": lambda s: s.MPI.Datatype.Create_f90_real(*s.pick((100, 5), (5, 10**5), (-1, -1))),
    "Create_f90_complex": lambda s: s.MPI.Datatype.Create_f90_complex(*s.pick((100, 5), (5, 10**5))),
    "Match_size": lambda s: s.MPI.Datatype.Match_size(
        *s.pick((s.MPI.TYPECLASS_INTEGER, 3), (s.MPI.TYPECLASS_REAL, 7), (s.MPI.TYPECLASS_COMPLEX, 3), (-99, 4), (999, 4))
    ),
    "Pack": _pack,
    "Pack_external: representation": _external,
    "Pack_size": lambda s: s.pick(s.MPI.INT.Pack_size, s.MPI.DOUBLE.Pack_size)(s.pick(-1, -7), s.comm),
    "Pack_size of null": lambda s: s.MPI.DATATYPE_NULL.Pack_size(1, s.comm),
    "Pack_size: comm null": lambda s: s.MPI.INT.Pack_size(1, s.MPI.Comm()),
    "Status": _status,
    "type attribute: key": _key,
    "Datatype.Free_keyval": lambda s: s.MPI.Datatype.Free_keyval(s.MPI.KEYVAL_INVALID),
}
