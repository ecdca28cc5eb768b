"""Hashes of colours: Jenkins' for the bins, and one that nobody has found two alike of, to tell colours apart.

Bins come from Jenkins' one-at-a-time hash of the colour's bytes, turned by one more byte in each iteration, of which
each iteration takes other bits. Colours can be made for which all of these are alike. So the question whether a chain
has one colour is asked of a 256-bit BLAKE2b digest, and after `TURNS` iterations bins are taken from the digest's bits.
Both are as long for all colours: what is sent does not depend on how long a colour is.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.chain.bins import TABLES, split_by_bin
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compare, Compares, as_bytes, compares, left_out
from collectives.chain.meter import Meter
from collectives.chain.scan import Letter, walk
from collectives.tools.protocol import Comm

TURNS = 12
"""Iterations with Jenkins' hash: at 3 bits each, all 32 of its bits have been used, and N = 65,536 takes about six."""
DIGEST = 32
"""Bytes."""


def one_at_a_time(data: bytes) -> int:
    """Jenkins' hash, 32 bits.

    >>> hex(one_at_a_time(b"a")), hex(one_at_a_time(b"The quick brown fox jumps over the lazy dog"))
    ('0xca2e9442', '0x519e91f5')
    """
    value = 0
    for byte in data:
        value = value + byte & 0xFFFFFFFF
        value = value + (value << 10) & 0xFFFFFFFF
        value ^= value >> 6
    value = value + (value << 3) & 0xFFFFFFFF
    value ^= value >> 11
    return value + (value << 15) & 0xFFFFFFFF


class Hashed:
    """A colour and its bins."""

    def __init__(self, color: Any, bits: int) -> None:
        self.data = as_bytes(color)
        self.bits = bits
        kind = type(color).__name__ if isinstance(color, (str, bytes)) else "int"  # "a" is not b"a"
        self.digest = blake2b(self.data, digest_size=DIGEST, person=kind.encode()).digest()

    def bin(self, turn: int) -> int:
        """The colour's bin in an iteration; different colours have different ones in one iteration or another."""
        if turn < TURNS:
            at = turn % max(1, len(self.data))
            value = one_at_a_time(self.data[at:] + self.data[:at])
            shift = turn * self.bits % 32
            value = value >> shift | value << 32 - shift
        else:
            value = int.from_bytes(self.digest, "big") >> (turn - TURNS) * self.bits
        return value & (1 << self.bits) - 1

    def alone(self, chain: Chain) -> bool:
        """Whether everybody on the chain has this colour."""
        # A double scan of a digest and a mark. What is alike stays so and what is not is marked, whoever looks first, so
        # everybody keeps its own digest: one comparison a message, where an allreduce combines two arrays twice.
        own = self.digest + b"\1"
        to_right, to_left = Letter.with_value(np.frombuffer(own, np.uint8)), Letter.with_value(np.frombuffer(own, np.uint8))
        marks = to_right.value[-1:], to_left.value[-1:]

        def heard_left(value: Any) -> None:
            if value.tobytes() != own:
                marks[0][0] = 0

        def heard_right(value: Any) -> None:
            if value.tobytes() != own:
                marks[1][0] = 0

        walk(chain, to_right, to_left, heard_left, heard_right)
        return bool(marks[0][0] and marks[1][0])


def check_hash(
    algorithm: Algorithm, group: Comm | Chain, color: Any, compare: Compares, bits: int, tag: int
) -> tuple[Chain, tuple[Compare | None, Compare | None]]:
    """The chain and the functions for colours and keys; colours must be alike in every byte, so none compares these."""
    chain = chain_of(group, tag)
    algorithm.check(Case(chain.size, parameters={"bits": bits}))
    functions = compares(compare)
    if color is not None and functions[0] is not None:
        raise DoesNotFit(
            f"split {algorithm.name}: colours that a function compares may be alike and have different hashes; "
            "for keys alone give compare=(None, function)"
        )
    return chain, functions


def bins_fit(case: Case) -> str | None:
    """`fits` of a split into 2^bits bins."""
    bits = case.parameters.get("bits", 3)
    return None if 0 < bits <= 16 else f"2^{bits} bins: between 2 and 65,536 make a table that can be sent"


def hash_holds(case: Case, bits: int, sort: Algorithm) -> int:
    """The tables of a scan; with `case.parameters["reorder"]` keys are sorted too, by the split `sort`."""
    sorting = sort.held(case) if case.parameters.get("reorder") else 0
    return max(TABLES << bits, sorting or 0)


def split_by_hash(chain: Chain, color: Any, bits: int, threshold: int, meter: Meter) -> tuple[Chain | None, bool]:
    """The chain of those with this colour, in their order, and True.

    Or, as soon as a chain is shorter than `threshold`, the chain of those and perhaps some others, and False.
    """
    hashed = None if left_out(color) else Hashed(color, bits)
    turn = 0
    while chain.size >= threshold:
        part, _ = split_by_bin(chain, None if hashed is None else hashed.bin(turn), 1 << bits, meter)
        if part is None or hashed is None:
            return None, True
        if part.size == 1 or (part.size == chain.size and hashed.alone(part)):
            return part, True
        chain, turn = part, turn + 1
    return chain, False
