"""Messages between parent and child: framing, message kinds, and placeholders of objects.

Both sides import this module, so it needs nothing but the standard library. A message is its length in 8 bytes, followed by
a pickle or, in most cases, a compact message. A compact call is the number of its line, its numbers, and the contents of its
arrays; a description of the other arguments precedes them if it differs from that of the last call of the line. The answer
to a call that returns None is the modeled time and the contents of its arrays; other simple results are marshaled.

A child writes a call and reads until it gets the result of that call. In the meantime the parent may call functions of the
child, which may make further calls: requests nest like a stack, so no message needs a number.

A lock lets one thread of the child call at a time. The end of the program is reported through a pipe of its own and is not
answered, because another thread may be in a call that never returns. From then on, calls of other threads are not sent.
"""

from __future__ import annotations

import os
from struct import Struct

CALL, CALLBACK_RESULT = range(2)
"""Kinds of messages from a child: a call; the result of a callback."""

FAILED, EXIT = range(2)
"""Kinds of reports of its end: its program has failed; it is about to exit."""

MAIN, THREAD, MAIN_WAITS, ABORT = b"m", b"t", b"w", b"a"
"""First bytes of reports once several threads call: the main thread begins a call; another one does, followed by its name;
the main thread waits for it, followed by its call and line; a thread that has to wait for another one calls Abort."""

RESULT, ERROR, CALLBACK, ENDED = range(4)
"""Kinds of messages from the parent: the result of a call; its exception; a callback; the run has ended."""

HANDLE, CONSTANT, CLASS, BUFFER, SAME_BUFFER, FUNCTION, OBJECT, PICKLED, SHARED, COPY, ERROR_OF_CHILD, PART = range(12)
"""Kinds of placeholders, for values that are not pickled: an MPI object by number; one by name; a class; memory of the
child; the same memory again; a function of the child; another object of the child; an object that MPI.pickle has pickled;
shared memory; a copy of memory of the parent; an exception that the child has raised in a callback; a part of memory of
the child."""

READ_ONLY, LIST, TUPLE, INTEGER, FLOAT, BYTES, VALUE = range(12, 19)
"""More kinds of values, in the descriptions of compact calls: memory that the call only reads; a list; a tuple; numbers and
bytes, which follow the description; a text, a boolean or None, which is part of it."""

DTYPES = "?bBhHiIlLqQefdgFDG"
"""Characters of the dtypes of arrays in compact messages: numbers."""

PICKLE_MARK, COMPACT_MARK = 0x80, 0x01
"""The first bytes of a pickle, and of a compact call or of the answer to one that has returned None. A marshaled result
begins with another one."""

SMALLEST_SEGMENT = 1 << 15
"""Arrays of at least this number of bytes are passed through a file that child and parent map, not through the pipe: for
these, two copies take less time than a write and a read."""


def segment_size(nbytes: int) -> int:
    """Return the size of the part of the file for an array."""
    size = SMALLEST_SEGMENT
    while size < nbytes:
        size *= 2
    return size


METHOD, CLASS_METHOD, GET, SET, DELETE, NEW, PLAIN = range(7)
"""Kinds of calls: a method, a class method, a property that is read, set or deleted, a constructor, a function."""

HEADER = Struct("<Q")
COMPACT_CALL = Struct("<B3xIIq")
"""The beginning of a compact call: its mark, the number of its line, the size of the description, the number of its first
memory. The description, the numbers and the contents follow."""
DONE = Struct("<B7xd")
"""The beginning of the answer to a call that has returned None: the mark and the modeled time."""
CHUNK = 1 << 12
"""Bytes that are read at first: enough for most messages, and allocated without a system call."""


class Closed(Exception):
    """The other side has closed its end."""


def write(fd: int, data: bytes) -> None:
    """Write a message."""
    message = HEADER.pack(len(data)) + data
    done = os.write(fd, message)
    if done < len(message):
        rest = memoryview(message)[done:]
        while rest:
            rest = rest[os.write(fd, rest) :]


def read(fd: int) -> bytes | bytearray:
    """Read a message."""
    first = os.read(fd, CHUNK)
    while len(first) < HEADER.size:
        more = os.read(fd, HEADER.size - len(first)) if first else b""
        if not more:
            raise Closed
        first += more
    (size,) = HEADER.unpack_from(first)
    if len(first) == HEADER.size + size:
        return first[HEADER.size :]
    data = bytearray(size)
    view, at = memoryview(data), len(first) - HEADER.size
    data[:at] = first[HEADER.size :]
    while at < size:
        count = os.readv(fd, [view[at:]])
        if not count:
            raise Closed
        at += count
    return data


OPERATORS = (
    "add", "mul", "and_", "or_", "xor", "lt", "gt", "truth", "len", "getitem", "print_error", "memory_at", "variables",
)  # fmt: skip
"""Operations of children on pickled objects: a callback with number -1 is the first. Number 0 only pickles its argument."""

PLAINLY, PICKLE, REFER = range(3)
"""Uses of the result of a callback: send it, pickle it by MPI.pickle, or keep it and send a number."""

EXTENDED, WARNED = -1, -2
"""In place of the number of memory that is written: a list in the arguments has changed; a call has issued a warning."""
