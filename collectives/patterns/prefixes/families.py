"""Families of scans and exscans: each function declares the algorithm of a module (`catalogue.family`), with its claims.

`prefixes(comm, own, recvbuf, op, tag, inclusive)` leaves the prefix in `recvbuf`: `own` is the operand, in a scan the
contents of `recvbuf`. Its keyword-only arguments are the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.family import member
from collectives.tools.blocks import load
from collectives.tools.protocol import Buffer, Comm, Op


def scan(module: str, prefixes: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare a scan."""

    @member(module, prefixes, in_order=True, **claims)
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0, **parameters: Any) -> None:
        """Leave the result of ranks 0 .. r in `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
        load(recvbuf, sendbuf)
        prefixes(comm, recvbuf, recvbuf, op, tag, inclusive=True, **parameters)

    return run


def exscan(module: str, prefixes: Callable[..., None], **claims: Any) -> Algorithm:
    """Declare an exscan."""

    @member(module, prefixes, in_order=True, **claims)
    def run(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0, **parameters: Any) -> None:
        """Leave the result of ranks 0 .. r-1 in `recvbuf` (unchanged on rank 0); in place if `sendbuf` is None."""
        own = recvbuf if sendbuf is None else sendbuf
        prefixes(comm, own, recvbuf, op, tag, inclusive=False, **parameters)

    return run
