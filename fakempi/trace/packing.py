"""Rows as text for a JSON file: column after column, by planes of bytes, deflated, in base64.

What is nearly the same is next to one another that way: a message takes about 15 bytes, where lists of numbers take 150.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from typing import Any

import numpy as np

from fakempi.errors import TraceError
from fakempi.trace.columns import Rows, Table

MOST = 1100
"""Bytes that a deflated byte can stand for, and a few more."""


def packed(rows: Rows) -> dict[str, Any]:
    """How many rows, and all that is in them."""
    planes = b"".join(_planes(rows[name]) for name in rows.dtype.names or ())
    return {"rows": len(rows), "packed": b64encode(zlib.compress(planes, 6)).decode()}


def _planes(column: Rows) -> bytes:
    """First the lowest byte of every number, then the next."""
    small = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<")))
    return small.view(np.uint8).reshape(len(small), small.itemsize).T.tobytes()


def unpacked(told: Any, table: Table) -> Rows:
    """The rows again. What would be larger than such a text can be, or is not as large as it says, is refused."""
    count, text = told["rows"], told["packed"]
    if type(count) is not int or not isinstance(text, str) or count < 0:
        raise TraceError("it should have a number of rows, and a text")
    size = count * table.size
    if size > MOST * len(text):
        raise TraceError(f"{count:,} rows are more than {len(text):,} letters can hold")
    try:
        opened = zlib.decompressobj()
        planes = opened.decompress(b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error) as error:
        raise TraceError("the text is not what was packed") from error
    if len(planes) != size or not (opened.eof or not size):
        raise TraceError(f"{count:,} rows take {size:,} bytes, and there are {'more' if len(planes) > size else 'fewer'}")
    rows, at = np.empty(count, table.dtype), 0
    for name in table.names:
        kind = table.dtype[name].newbyteorder("<")
        planes_of = np.frombuffer(planes, np.uint8, count * kind.itemsize, at).reshape(kind.itemsize, count)
        rows[name] = np.ascontiguousarray(planes_of.T).view(kind).reshape(count)
        at += count * kind.itemsize
    return rows
