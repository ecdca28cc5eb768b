"""Random changes of .npz files: of the head, of columns, of array headers, of the members and of the archive."""

from __future__ import annotations

import io
import json
import pickle
import re
import struct
import zipfile
import zlib
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.files.mutation import WORDS, change_json

SHAPES = (b"(10**9,)", b"(100000000,)", b"(-1,)", b"()", b"(2, 3)", b"(1000000000000000,)", b"(True,)")


class Payload:
    """An object whose pickle would create a file when it is loaded."""

    def __reduce__(self) -> Any:
        return open, ("pwned", "w")


def rewrite(data: bytes, random: Random) -> bytes:
    """Return an archive with a changed member."""
    with suppress(zipfile.BadZipFile, zlib.error, ValueError, OSError):
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = {name: file.read(name) for name in file.namelist()}
        name = random.choice(list(members))
        change = random.randrange(8)
        if change == 0:
            members[name] = _array(np.array([Payload()], dtype=object), allow_pickle=True)
        elif change == 1:
            members[name] = pickle.dumps(Payload())
        elif change == 2:
            members[random.choice(WORDS).strip("\0") or "x"] = members.pop(name)
        elif change == 3:
            members[name] = members[name] + b"\0" * random.choice((1, 10**6, 3 * 10**8 if random.random() < 0.003 else 10))
        elif change == 4:
            members[name] = _header(members[name], random)
        elif change == 5:
            members[name] = _column(members[name], random)
        else:
            members["head.npy"] = _head(members["head.npy"], random)
        return _zipped(members, random)
    return data


def _zipped(members: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    big = sum(map(len, members.values())) > 10**7
    how = (
        zipfile.ZIP_DEFLATED
        if big
        else random.choice(
            (zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
        )
    )
    with zipfile.ZipFile(out, "w", how) as file:
        for name, data in members.items():
            with suppress(ValueError, struct.error):  # a name that the format cannot express
                file.writestr(name, data)
    return out.getvalue()


def _array(array: Any, allow_pickle: bool = False) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=allow_pickle)
    return out.getvalue()


def _header(member: bytes, random: Random) -> bytes:
    """Change the header of an array: its shape, type or order."""
    end = member.find(b"\n")
    header, rest = member[:end], member[end:]
    new = random.choice((
        lambda: re.sub(rb"'shape': \([^)]*\)", b"'shape': " + random.choice(SHAPES), header),
        lambda: header.replace(b"<f8", b"|O"), lambda: header.replace(b"<i8", b"|O"), lambda: header.replace(b"<", b">"),
        lambda: header.replace(b"False", b"True"), lambda: header.replace(b"<f8", b"<c16"),
        lambda: header.replace(b"'descr'", b"__import__('evil')"), lambda: header.replace(b"<U", b"<U9999"),
    ))()  # fmt: skip
    return new.ljust(len(header))[: len(header)] + rest if random.random() < 0.7 else new + rest


def _column(member: bytes, random: Random) -> bytes:
    """Change values in a column of an array."""
    with suppress(ValueError):
        array = np.load(io.BytesIO(member), allow_pickle=False)
        names = array.dtype.names
        if names and len(array):
            column = array[random.choice(names)]
            column[random.randrange(len(column))] = random.choice(
                (0, -1, 1, 2**31 - 1, 7, 1e300, np.nan, np.inf, -np.inf)
                if column.dtype.kind == "f"
                else (0, -1, 1, 2, 7, 2**31 - 1)
            )
            return _array(array)
    return member


def _head(member: bytes, random: Random) -> bytes:
    with suppress(ValueError, RecursionError, UnicodeEncodeError):
        head = json.loads(str(np.load(io.BytesIO(member), allow_pickle=False)))
        return _array(np.array(json.dumps(change_json(head, random))))
    return member
