"""Messages between parent and child: framing, message kinds, and placeholders of objects.

Both sides import this module, so it needs nothing but the standard library. A message is a pickle or, in most cases, is
marshaled, which takes a sixth of the time. A marshaled call is a list: its number, its line, notes, the target, the
arguments, and the indices of those that are placeholders. If its first argument is an array, and the others are simple
values, it is a tuple. The answer to a call that returns None is a list of the modeled time and the contents of arrays; other
simple results are in a tuple. Bytes of both formats can crash a reader or make it execute code. That is acceptable because a
child is started by the parent, on the same machine and with the same rights, and no other process has their pipes.

A child writes a call and reads until it gets the result of that call. In the meantime the parent may call functions of the
child, which may make further calls: requests nest like a stack, so no message needs a number.

A lock lets one thread of the child call at a time. The end of the program is reported through a pipe of its own and is not
answered, because another thread may be in a call that never returns. From then on, calls of other threads are not sent.
"""

from __future__ import annotations

import mmap
import os
import select
from struct import Struct
from typing import Any

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

ARRAY, TUPLE = range(12, 14)
"""More kinds of placeholders, in marshaled calls: an array of numbers; a tuple."""

DTYPES = "?bBhHiIlLqQefdgFDG"
"""Characters of the dtypes of arrays in marshaled calls: numbers."""

PICKLE_MARK, LONG_MARK = 0x80, 0
"""The first bytes of a pickle, and of a message that begins with its length."""

TUPLE_MARK = ord("(")
"""The first byte of a marshaled tuple."""

MARSHAL_VERSION = 2
"""Later formats find equal objects in a message. Messages have none, and without that they take two thirds of the time."""

SMALLEST_SEGMENT = max(1 << 14, mmap.ALLOCATIONGRANULARITY)
"""Arrays of at least this number of bytes are passed through a file that child and parent map, not through the pipe: for
these, two copies take less time than a write and a read."""


def segment_size(nbytes: int) -> int:
    """Return the size of the part of the file for an array."""
    return max(SMALLEST_SEGMENT, 1 << (nbytes - 1).bit_length())


METHOD, CLASS_METHOD, GET, SET, DELETE, NEW, PLAIN = range(7)
"""Kinds of calls: a method, a class method, a property that is read, set or deleted, a constructor, a function."""

HEADER = Struct("<Q")
CHUNK = 1 << 12
"""Bytes that are read at first: enough for most messages, and allocated without a system call."""
SHORT = getattr(select, "PIPE_BUF", 512)
"""Messages with fewer bytes are sent without their length: the system writes and reads them in one piece."""


class Closed(Exception):
    """The other side has closed its end."""


def write(fd: int, data: Any) -> None:
    """Write a message."""
    if len(data) < SHORT:
        os.write(fd, data)
    else:
        write_with_length(fd, data, b"%c" % LONG_MARK)


def write_with_length(fd: int, data: bytes, mark: bytes = b"") -> None:
    """Write a message after its length."""
    rest = memoryview(mark + HEADER.pack(len(data)) + data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def read(fd: int) -> bytes | bytearray:
    """Read a message."""
    first = os.read(fd, CHUNK)
    if first and first[0] != LONG_MARK:
        return first
    start = 1 + HEADER.size
    while len(first) < start:
        more = os.read(fd, start - len(first)) if first else b""
        if not more:
            raise Closed
        first += more
    (size,) = HEADER.unpack_from(first, 1)
    data = bytearray(size)
    view, at = memoryview(data), len(first) - start
    data[:at] = first[start:]
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
