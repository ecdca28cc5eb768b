"""`mpi4py.util.dtlib`: datatypes of numpy as datatypes of MPI, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi4py.hidden import _typecode

# -- to MPI ----------------------------------------------------------------------------------------------------------


def from_numpy_dtype(dtype: Any) -> MPI.Datatype:
    """The datatype of MPI that describes elements of a numpy dtype: records by field, arrays inside them by shape."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError("NumPy datatype with object entries")
    if not dtype.isnative:
        raise ValueError("NumPy datatype with non-native byteorder")
    if dtype.fields:
        fields = [dtype.fields[name] for name in dtype.names or ()]
        parts = [from_numpy_dtype(field[0]) for field in fields]
        struct = MPI.Datatype.Create_struct([1] * len(parts), [field[1] for field in fields], parts)
        return _last(struct.Create_resized(0, dtype.itemsize), struct, *parts)
    if dtype.subdtype:
        base, shape = dtype.subdtype
        part = from_numpy_dtype(base)
        if len(shape) == 1:
            return _last(part.Create_contiguous(shape[0]), part)
        return _last(part.Create_subarray(shape, shape, [0] * len(shape)), part)
    return MPI.Datatype.fromcode(dtype.char).Dup()


def _last(made: MPI.Datatype, *used: MPI.Datatype) -> MPI.Datatype:
    """What was made of others, which are needed no more."""
    for each in used:
        each.Free()
    return made


# -- to numpy --------------------------------------------------------------------------------------------------------


def to_numpy_dtype(datatype: MPI.Datatype) -> np.dtype[Any]:
    """The numpy dtype of elements as a datatype of MPI describes them. Blocks with gaps become the fields f0, f1, ..."""
    if datatype == MPI.DATATYPE_NULL:
        raise ValueError("cannot convert null MPI datatype to NumPy")
    if datatype.combiner == MPI.COMBINER_NAMED:
        return _named(datatype)
    if datatype.combiner in _FORTRAN:
        return np.dtype(_typecode(datatype))
    base, _, info = datatype.decode()
    parts = [base, *info.get("datatypes", ())]
    try:
        read = _READ.get(datatype.combiner)
        if read is None:
            raise ValueError("cannot convert MPI datatype to NumPy")
        return read(datatype, base, info)
    finally:
        for part in parts:
            if not part.is_predefined and part != MPI.DATATYPE_NULL:
                part.Free()


def _named(datatype: MPI.Datatype) -> np.dtype[Any]:
    """A predefined one; of the pairs for MINLOC and MAXLOC, a record."""
    code = _typecode(datatype)
    if code is not None:
        return np.dtype(code)
    for name in ("SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "LONG_DOUBLE"):
        if datatype == getattr(MPI, f"{name}_INT"):
            return np.dtype(f"{_typecode(getattr(MPI, name))},i", align=True)
    raise ValueError(f"cannot convert MPI datatype {datatype.Get_name()} to NumPy")


def _record(formats: Sequence[Any], offsets: Sequence[int], itemsize: int | None = None) -> np.dtype[Any]:
    """A record, aligned as a C compiler would have it if its fields are where that would put them."""
    described: dict[str, Any] = {"names": [f"f{i}" for i in range(len(formats))], "formats": formats, "offsets": offsets}
    if itemsize is not None:
        described["itemsize"] = itemsize
    spec: Any = described
    try:
        made: np.dtype[Any] = np.dtype(spec, align=True)
    except ValueError:
        made = np.dtype(spec)
    return made


def _dup(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    return to_numpy_dtype(base)


def _contiguous(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    return np.dtype((to_numpy_dtype(base), (info["count"],)))


def _subarray(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    sizes = list(info["sizes"])
    if list(info["subsizes"]) != sizes or any(info["starts"]):
        raise ValueError("cannot convert subarray MPI datatype to NumPy")
    return np.dtype((to_numpy_dtype(base), tuple(sizes if info["order"] == MPI.ORDER_C else reversed(sizes))))


def _struct(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any], extent: int | None = None) -> np.dtype[Any]:
    kinds = [to_numpy_dtype(part) for part in info["datatypes"]]
    formats = [kind if length == 1 else (kind, length) for kind, length in zip(kinds, info["blocklengths"], strict=True)]
    return _record(formats, info["displacements"], datatype.extent if extent is None else extent)


def _resized(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    if base.combiner != MPI.COMBINER_STRUCT:
        raise ValueError("cannot convert MPI datatype to NumPy")
    inner, _, described = base.decode()
    try:
        return _struct(base, inner, described, datatype.extent)
    finally:
        for part in described["datatypes"]:
            if not part.is_predefined:
                part.Free()


def _vector(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    stride = info["stride"] * (base.extent if datatype.combiner == MPI.COMBINER_VECTOR else 1)
    formats = [(to_numpy_dtype(base), (info["blocklength"],))] * info["count"]
    return _record(formats, [stride * i for i in range(info["count"])], datatype.extent)


def _indexed(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    in_elements = datatype.combiner in (MPI.COMBINER_INDEXED, MPI.COMBINER_INDEXED_BLOCK)
    offsets = [displacement * (base.extent if in_elements else 1) for displacement in info["displacements"]]
    lengths = info["blocklengths"] if "blocklengths" in info else [info["blocklength"]] * len(offsets)
    return _record([(to_numpy_dtype(base), (length,)) for length in lengths], offsets)


def _value_index(datatype: MPI.Datatype, base: MPI.Datatype, info: dict[str, Any]) -> np.dtype[Any]:
    return np.dtype([("f0", to_numpy_dtype(info["value"])), ("f1", to_numpy_dtype(info["index"]))], align=True)


_FORTRAN = (MPI.COMBINER_F90_INTEGER, MPI.COMBINER_F90_REAL, MPI.COMBINER_F90_COMPLEX)
_READ: dict[int, Callable[[MPI.Datatype, MPI.Datatype, dict[str, Any]], np.dtype[Any]]] = {
    MPI.COMBINER_DUP: _dup,
    MPI.COMBINER_CONTIGUOUS: _contiguous,
    MPI.COMBINER_SUBARRAY: _subarray,
    MPI.COMBINER_STRUCT: _struct,
    MPI.COMBINER_RESIZED: _resized,
    MPI.COMBINER_VECTOR: _vector,
    MPI.COMBINER_HVECTOR: _vector,
    MPI.COMBINER_INDEXED: _indexed,
    MPI.COMBINER_HINDEXED: _indexed,
    MPI.COMBINER_INDEXED_BLOCK: _indexed,
    MPI.COMBINER_HINDEXED_BLOCK: _indexed,
    MPI.COMBINER_VALUE_INDEX: _value_index,
}
