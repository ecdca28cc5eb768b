"""`mpi4py.util.dtlib`: conversion between numpy dtypes and MPI datatypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mod
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.datatypes import derived
from fakempi.mpi.datatypes.basic import by_code
from fakempi.mpi.datatypes.definition import Definition

# Both conversions use definitions instead of handles, so that no intermediate handle has to be freed.

# -- to MPI ----------------------------------------------------------------------------------------------------------


def from_numpy_dtype(dtype: Any) -> MPI.Datatype:
    """Return the MPI datatype for elements of a numpy dtype, including records and subarrays."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise ValueError("NumPy datatype with object entries")
    if not dtype.isnative:
        raise ValueError("NumPy datatype with non-native byteorder")
    if not dtype.fields and not dtype.subdtype:
        return MPI.Datatype.fromcode(dtype.char).Dup()
    definition = _definition(dtype)
    definition.handles = 1
    return MPI.Datatype._wrap(definition)


def _definition(dtype: np.dtype[Any]) -> Definition:
    """Return the definition for a dtype; intermediate definitions have no handles."""
    if dtype.fields:
        fields = [dtype.fields[name] for name in dtype.names or ()]
        parts = [_definition(field[0]) for field in fields]
        struct = derived.members([1] * len(parts), [field[1] for field in fields], parts)
        struct.handles = 0
        definition = derived.resized(struct, 0, dtype.itemsize)
    elif dtype.subdtype:
        base, shape = dtype.subdtype
        if len(shape) == 1:
            definition = derived.contiguous(_definition(base), shape[0])
        else:
            definition = derived.subarray(_definition(base), shape, shape, (0,) * len(shape), MPI.ORDER_C)
    else:
        definition = derived.duplicate(by_code(dtype.char))
    definition.handles = 0
    return definition


# -- to numpy --------------------------------------------------------------------------------------------------------


def to_numpy_dtype(datatype: MPI.Datatype) -> np.dtype[Any]:
    """Return the numpy dtype for elements of an MPI datatype. Blocks with gaps become the fields f0, f1, ..."""
    if datatype == MPI.DATATYPE_NULL:
        raise ValueError("cannot convert null MPI datatype to NumPy")
    return _dtype(datatype._alive())


def _dtype(definition: Definition) -> np.dtype[Any]:
    convert = _CONVERTERS.get(definition.combiner)
    if convert is None:
        raise ValueError("cannot convert MPI datatype to NumPy")
    return convert(definition)


def _named(definition: Definition) -> np.dtype[Any]:
    """Return the dtype of a predefined datatype; a record for the pairs of MINLOC and MAXLOC."""
    if definition.code:
        return np.dtype(definition.code)
    if definition.parts:
        return np.dtype(",".join(part.code for _, part in definition.parts), align=True)
    raise ValueError(f"cannot convert MPI datatype {definition.name} to NumPy")


def _base_dtype(definition: Definition) -> np.dtype[Any]:
    """Return the dtype of the base datatype."""
    return _dtype(definition.parts[0][1])


def _record(formats: Sequence[np.dtype[Any]], offsets: Sequence[int], itemsize: int | None = None) -> np.dtype[Any]:
    """Return a record dtype, aligned if its offsets and size are those of a C struct."""
    spec: Any = {"names": [f"f{i}" for i in range(len(formats))], "formats": formats, "offsets": offsets}
    if itemsize is not None:
        spec["itemsize"] = itemsize
    # The same check as in numpy: catching its exception would take as long as creating the dtype.
    alignments = [field.alignment for field in formats]
    aligned = not any(map(mod, offsets, alignments)) and not (itemsize or 0) % max(alignments, default=1)
    definition: np.dtype[Any] = np.dtype(spec, align=aligned)
    return definition


def _contiguous(definition: Definition) -> np.dtype[Any]:
    return np.dtype((_base_dtype(definition), (definition.params["count"],)))


def _subarray(definition: Definition) -> np.dtype[Any]:
    info = definition.params
    if info["subsizes"] != info["sizes"] or any(info["starts"]):
        raise ValueError("cannot convert subarray MPI datatype to NumPy")
    sizes = info["sizes"] if info["order"] == MPI.ORDER_C else reversed(info["sizes"])
    return np.dtype((_base_dtype(definition), tuple(sizes)))


def _struct(definition: Definition) -> np.dtype[Any]:
    return _fields(definition, definition.layout.extent)


def _fields(struct: Definition, extent: int) -> np.dtype[Any]:
    formats = [_dtype(part) if length == 1 else np.dtype((_dtype(part), length)) for length, part in struct.parts]
    return _record(formats, struct.params["displacements"], extent)


def _resized(definition: Definition) -> np.dtype[Any]:
    struct = definition.parts[0][1]
    if struct.combiner != MPI.COMBINER_STRUCT:
        raise ValueError("cannot convert MPI datatype to NumPy")
    return _fields(struct, definition.layout.extent)


def _vector(definition: Definition) -> np.dtype[Any]:
    info = definition.params
    stride = info["stride"] * (definition.parts[0][1].layout.extent if definition.combiner == MPI.COMBINER_VECTOR else 1)
    formats = [np.dtype((_base_dtype(definition), (info["blocklength"],)))] * info["count"]
    return _record(formats, [stride * i for i in range(info["count"])], definition.layout.extent)


def _indexed(definition: Definition) -> np.dtype[Any]:
    info, old = definition.params, _base_dtype(definition)
    in_elements = definition.combiner in (MPI.COMBINER_INDEXED, MPI.COMBINER_INDEXED_BLOCK)
    unit = definition.parts[0][1].layout.extent if in_elements else 1
    offsets = [displacement * unit for displacement in info["displacements"]]
    lengths = info["blocklengths"] if "blocklengths" in info else [info["blocklength"]] * len(offsets)
    return _record([np.dtype((old, (length,))) for length in lengths], offsets)


_CONVERTERS: dict[int, Callable[[Definition], np.dtype[Any]]] = {
    MPI.COMBINER_NAMED: _named,
    MPI.COMBINER_F90_INTEGER: _named,
    MPI.COMBINER_F90_REAL: _named,
    MPI.COMBINER_F90_COMPLEX: _named,
    MPI.COMBINER_DUP: _base_dtype,
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
