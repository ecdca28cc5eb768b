"""Compress rows and texts to text for a JSON file: rows column by column, by byte planes, deflated, in base64.

This makes similar bytes adjacent: a message takes about 15 bytes; in lists of numbers it would take 150.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from fakempi.errors import TraceError
from fakempi.trace.columns import RowFormat, Rows

MAX_RATIO = 1100
"""Upper bound on the compression ratio of deflate (1032)."""


def packed(rows: Rows) -> dict[str, Any]:
    """Return the number of rows and their compressed contents."""
    planes = b"".join(byte_planes(rows[name]) for name in rows.dtype.names or ())
    return {"rows": len(rows), "packed": b64encode(zlib.compress(planes, 6)).decode()}


def byte_planes(column: Rows) -> bytes:
    """Return the bytes of a column: first the lowest byte of every number, then the next."""
    small = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<")))
    return small.view(np.uint8).reshape(len(small), small.itemsize).T.tobytes()


def unpacked(record: Any, table: RowFormat) -> Rows:
    """Return the rows of a `packed` record; raises TraceError if its size is impossible or not the size it declares."""
    count, text = record["rows"], record["packed"]
    if type(count) is not int or not isinstance(text, str) or count < 0:
        raise TraceError("rows must be a number of rows, and packed must be a text")
    size = count * table.size
    planes = _decompressed(text, size, f"{count:,} rows")
    rows, at = np.empty(count, table.dtype), 0
    for name in table.names:
        kind = table.dtype[name].newbyteorder("<")
        planes_of = np.frombuffer(planes, np.uint8, count * kind.itemsize, at).reshape(kind.itemsize, count)
        rows[name] = np.ascontiguousarray(planes_of.T).view(kind).reshape(count)
        at += count * kind.itemsize
    return rows


def _decompressed(text: str, size: int, what: str) -> bytes:
    """Return the bytes in a text, of which there must be `size`."""
    if size > MAX_RATIO * len(text):
        raise TraceError(f"{len(text):,} characters cannot contain {what}")
    try:
        opened = zlib.decompressobj()
        found = opened.decompress(b64decode(text, validate=True), size + 1)
    except (ValueError, zlib.error) as error:
        raise TraceError("the text is not deflated data in base64") from error
    if len(found) != size or not (opened.eof or not size):
        raise TraceError(f"{what} take {size:,} bytes, but there are {'more' if len(found) > size else 'fewer'}")
    return found


def packed_texts(texts: Sequence[bytes]) -> dict[str, Any]:
    """Return the lengths of texts, and all of them compressed as one, since they are similar."""
    return {"lengths": list(map(len, texts)), "packed": b64encode(zlib.compress(b"".join(texts), 6)).decode()}


def unpacked_texts(record: Any, ranks: int) -> list[bytes]:
    """Return the texts of a `packed_texts` record, one for each rank; raises TraceError if it has others."""
    if not isinstance(record, dict) or not isinstance(record.get("packed"), str):
        raise TraceError("it is not a table of lengths and a text")
    lengths = checked_lengths(record.get("lengths"), ranks)
    return split_texts(_decompressed(record["packed"], sum(lengths), f"{len(lengths):,} texts"), lengths)


def checked_lengths(lengths: Any, ranks: int) -> list[int]:
    """Return the lengths of the texts of all ranks; raises TraceError if they are something else."""
    if not isinstance(lengths, list) or any(type(length) is not int or not 0 <= length < 2**53 for length in lengths):
        raise TraceError("lengths must be a list of numbers of bytes")
    if len(lengths) > ranks:
        raise TraceError(f"there are {len(lengths):,} texts of {ranks:,} ranks")
    return lengths


def split_texts(joined: bytes, lengths: Sequence[int]) -> list[bytes]:
    """Return the texts of these lengths, whose sum is the length of all of them."""
    found, at = [], 0
    for length in lengths:
        found.append(joined[at : at + length])
        at += length
    return found
