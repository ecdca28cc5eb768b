"""Compress columns of numbers to bytes that a browser unpacks in a few lines of JavaScript.

There are three steps. Integers are replaced by the differences to their predecessors. The bytes of a column are transposed
into byte planes: first the lowest byte of all its numbers, then the next byte of all, and so on, so that similar bytes are
adjacent. The result is compressed by deflate. A message of a regular program takes about 5 bytes.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.trace.packing import byte_planes

Column = npt.NDArray[Any]


def packed(head: Mapping[str, Any], columns: Mapping[str, Column]) -> str:
    """Return head and columns as base64 text: the length of the head, the head as JSON, the columns in order."""
    kinds = {name: "d" if column.dtype.kind == "f" else "i" for name, column in columns.items()}
    listed = [[name, len(column), kinds[name]] for name, column in columns.items()]
    text = json.dumps({**head, "columns": listed}, allow_nan=False).encode()
    parts = [
        byte_planes(column.astype("f8")) if kinds[name] == "d" else _integers(column) for name, column in columns.items()
    ]
    return b64encode(zlib.compress(b"".join((len(text).to_bytes(4, "little"), text, *parts)), 5)).decode()


def _integers(column: Column) -> bytes:
    """Return the differences as unsigned 32-bit integers; they may overflow, as the sums that restore the values do."""
    wide = column.astype(np.int64)
    return byte_planes(np.diff(wide, prepend=0).astype(np.uint64).astype("u4"))
