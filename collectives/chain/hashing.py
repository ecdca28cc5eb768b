"""The split by hash: Jenkins' hash selects the bins of colors, and a cryptographic hash compares colors.

The bin of an iteration is a part of Jenkins' one-at-a-time hash of the color's bytes, rotated by one more byte in each
iteration. There are different colors with equal bins in all these iterations. Therefore a 256-bit BLAKE2b digest decides
whether all processes of a chain have the same color, and after `JENKINS_ITERATIONS` iterations the bins are parts of the
digest. The lengths of both hashes are fixed, so the sizes of messages do not depend on the length of a color.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.chain.bins import TABLES, split_by_bin
from collectives.chain.chain import Chain, chain_of
from collectives.chain.items import Compare, Compares, as_bytes, compares, is_undefined
from collectives.chain.meter import ItemMeter
from collectives.chain.scan import ScanMessage, run_rounds
from collectives.tools.protocol import Comm

JENKINS_ITERATIONS = 12
"""Iterations with Jenkins' hash. With 3 bits each they use all its 32 bits; N = 65,536 takes about six iterations."""
DIGEST = 32
"""Bytes of a digest."""


def one_at_a_time(data: bytes) -> int:
    """Return Jenkins' one-at-a-time hash, 32 bits.

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


class HashedColor:
    """A color and its bins."""

    def __init__(self, color: Any, bits: int) -> None:
        self.data = as_bytes(color)
        self.bits = bits
        kind = type(color).__name__ if isinstance(color, (str, bytes)) else "int"  # distinguishes "a" from b"a"
        self.digest = blake2b(self.data, digest_size=DIGEST, person=kind.encode()).digest()

    def bin(self, iteration: int) -> int:
        """Return the color's bin in an iteration.

        Colors with different digests have different bins in at least one iteration.
        """
        if iteration < JENKINS_ITERATIONS:
            rotation = iteration % max(1, len(self.data))
            value = one_at_a_time(self.data[rotation:] + self.data[:rotation])
            shift = iteration * self.bits % 32
            value = value >> shift | value << 32 - shift
        else:
            value = int.from_bytes(self.digest, "big") >> (iteration - JENKINS_ITERATIONS) * self.bits
        return value & (1 << self.bits) - 1

    def is_only_color(self, chain: Chain) -> bool:
        """Return whether all processes of the chain have this color."""
        # A double scan of a digest and a flag that is cleared at the first difference. Each process keeps its own digest:
        # one comparison per message, while an allreduce would combine two arrays twice.
        own = self.digest + b"\1"
        value = np.frombuffer(own, np.uint8)
        to_right, to_left = ScanMessage.with_value(value), ScanMessage.with_value(value)
        flags = to_right.value[-1:], to_left.value[-1:]

        def on_left(value: Any) -> None:
            if value.tobytes() != own:
                flags[0][0] = 0

        def on_right(value: Any) -> None:
            if value.tobytes() != own:
                flags[1][0] = 0

        run_rounds(chain, to_right, to_left, on_left, on_right)
        return bool(flags[0][0] and flags[1][0])


def check_hash(
    algorithm: Algorithm, group: Comm | Chain, color: Any, compare: Compares, bits: int, tag: int
) -> tuple[Chain, tuple[Compare | None, Compare | None]]:
    """Return the chain, and the comparison functions of colors (always None) and keys. Raises UnsupportedCaseError."""
    chain = chain_of(group, tag)
    algorithm.check(Case(chain.size, parameters={"bits": bits}))
    functions = compares(compare)
    if color is not None and functions[0] is not None:
        raise UnsupportedCaseError(
            f"split {algorithm.name}: colors that are equal by a comparison function may have different hashes; "
            "to compare only keys, use compare=(None, function)"
        )
    return chain, functions


def bins_fit(case: Case) -> str | None:
    """`why_unsupported` of a split into 2^bits bins: bits must be 1 to 16."""
    bits = case.parameters.get("bits", 3)
    return None if 0 < bits <= 16 else f"bits = {bits} is not between 1 and 16 (2 to 65,536 bins)"


def hash_holds(case: Case, bits: int, sort: Algorithm) -> int:
    """`holds` of a split by hash: the tables of a scan, and the items of `sort` if `case.parameters["reorder"]` is true."""
    sorting = sort.held(case) if case.parameters.get("reorder") else 0
    return max(TABLES << bits, sorting or 0)


def split_by_hash(chain: Chain, color: Any, bits: int, threshold: int, meter: ItemMeter) -> tuple[Chain | None, bool]:
    """Return the chain of the processes with this color, in their order, and True.

    If a chain gets shorter than `threshold`, return this chain, which may have other colors too, and False.
    """
    hashed = None if is_undefined(color) else HashedColor(color, bits)
    iteration = 0
    while chain.size >= threshold:
        part, _ = split_by_bin(chain, None if hashed is None else hashed.bin(iteration), 1 << bits, meter)
        if part is None or hashed is None:
            return None, True
        if part.size == 1 or (part.size == chain.size and hashed.is_only_color(part)):
            return part, True
        chain, iteration = part, iteration + 1
    return chain, False
