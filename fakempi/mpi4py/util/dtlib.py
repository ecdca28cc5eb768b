"""`mpi4py.util.dtlib`: datatypes of numpy as datatypes of MPI, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mod
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.datatypes import derived
from fakempi.mpi.datatypes.basic import by_code
from fakempi.mpi.datatypes.definition import Definition

# Both ways go by definitions, not by handles: of the types in between nobody ever has a handle that would have to be freed.

# -- to MPI ----------------------------------------------------------------------------------------------------------


def from_numpy_dtype(dtype: Any) -> MPI.Datatype:
    """The datatype of MPI that describes elements of a numpy dtype: records by field, arrays inside them by shape."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError("NumPy datatype with object entries")
    if not dtype.isnative:
        raise ValueError("NumPy datatype with non-native byteorder")
    if not dtype.fields and not dtype.subdtype:
        return MPI.Datatype.fromcode(dtype.char).Dup()
    made = _definition(dtype)
    made.handles = 1
    return MPI.Datatype._wrap(made)


def _definition(dtype: np.dtype[Any]) -> Definition:
    """As it would be if it had been made of others that were freed then."""
    if dtype.fields:
        fields = [dtype.fields[name] for name in dtype.names or ()]
        parts = [_definition(field[0]) for field in fields]
        struct = derived.members([1] * len(parts), [field[1] for field in fields], parts)
        struct.handles = 0
        made = derived.resized(struct, 0, dtype.itemsize)
    elif dtype.subdtype:
        base, shape = dtype.subdtype
        if len(shape) == 1:
            made = derived.contiguous(_definition(base), shape[0])
        else:
            made = derived.subarray(_definition(base), shape, shape, (0,) * len(shape), MPI.ORDER_C)
    else:
        made = derived.duplicate(by_code(dtype.char))
    made.handles = 0
    return made


# -- to numpy --------------------------------------------------------------------------------------------------------


def to_numpy_dtype(datatype: MPI.Datatype) -> np.dtype[Any]:
    """The numpy dtype of elements as a datatype of MPI describes them. Blocks with gaps become the fields f0, f1, ..."""
    if datatype == MPI.DATATYPE_NULL:
        raise ValueError("cannot convert null MPI datatype to NumPy")
    return _dtype(datatype._alive())


def _dtype(made: Definition) -> np.dtype[Any]:
    read = _READ.get(made.combiner)
    if read is None:
        raise ValueError("cannot convert MPI datatype to NumPy")
    return read(made)


def _named(made: Definition) -> np.dtype[Any]:
    """A predefined one; of the pairs for MINLOC and MAXLOC, a record."""
    if made.code:
        return np.dtype(made.code)
    if made.parts:
        return np.dtype(",".join(part.code for _, part in made.parts), align=True)
    raise ValueError(f"cannot convert MPI datatype {made.name} to NumPy")


def _old(made: Definition) -> np.dtype[Any]:
    """Of the one type that it was made of."""
    return _dtype(made.parts[0][1])


def _record(formats: Sequence[np.dtype[Any]], offsets: Sequence[int], itemsize: int | None = None) -> np.dtype[Any]:
    """A record, aligned as a C compiler would have it if its fields are where that would put them."""
    spec: Any = {"names": [f"f{i}" for i in range(len(formats))], "formats": formats, "offsets": offsets}
    if itemsize is not None:
        spec["itemsize"] = itemsize
    # What numpy looks at, too; to be refused by it takes as long as to be answered.
    alignments = [field.alignment for field in formats]
    aligned = not any(map(mod, offsets, alignments)) and not (itemsize or 0) % max(alignments, default=1)
    made: np.dtype[Any] = np.dtype(spec, align=aligned)
    return made


def _contiguous(made: Definition) -> np.dtype[Any]:
    return np.dtype((_old(made), (made.params["count"],)))


def _subarray(made: Definition) -> np.dtype[Any]:
    info = made.params
    if info["subsizes"] != info["sizes"] or any(info["starts"]):
        raise ValueError("cannot convert subarray MPI datatype to NumPy")
    sizes = info["sizes"] if info["order"] == MPI.ORDER_C else reversed(info["sizes"])
    return np.dtype((_old(made), tuple(sizes)))


def _struct(made: Definition) -> np.dtype[Any]:
    return _fields(made, made.layout.extent)


def _fields(struct: Definition, extent: int) -> np.dtype[Any]:
    formats = [_dtype(part) if length == 1 else np.dtype((_dtype(part), length)) for length, part in struct.parts]
    return _record(formats, struct.params["displacements"], extent)


def _resized(made: Definition) -> np.dtype[Any]:
    struct = made.parts[0][1]
    if struct.combiner != MPI.COMBINER_STRUCT:
        raise ValueError("cannot convert MPI datatype to NumPy")
    return _fields(struct, made.layout.extent)


def _vector(made: Definition) -> np.dtype[Any]:
    info = made.params
    stride = info["stride"] * (made.parts[0][1].layout.extent if made.combiner == MPI.COMBINER_VECTOR else 1)
    formats = [np.dtype((_old(made), (info["blocklength"],)))] * info["count"]
    return _record(formats, [stride * i for i in range(info["count"])], made.layout.extent)


def _indexed(made: Definition) -> np.dtype[Any]:
    info, old = made.params, _old(made)
    in_elements = made.combiner in (MPI.COMBINER_INDEXED, MPI.COMBINER_INDEXED_BLOCK)
    unit = made.parts[0][1].layout.extent if in_elements else 1
    offsets = [displacement * unit for displacement in info["displacements"]]
    lengths = info["blocklengths"] if "blocklengths" in info else [info["blocklength"]] * len(offsets)
    return _record([np.dtype((old, (length,))) for length in lengths], offsets)


_READ: dict[int, Callable[[Definition], np.dtype[Any]]] = {
    MPI.COMBINER_NAMED: _named,
    MPI.COMBINER_F90_INTEGER: _named,
    MPI.COMBINER_F90_REAL: _named,
    MPI.COMBINER_F90_COMPLEX: _named,
    MPI.COMBINER_DUP: _old,
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
}
