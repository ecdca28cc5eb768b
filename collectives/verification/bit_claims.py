"""Check the line "Bits" of a reduction's card against the order in which the algorithm combines operands.

A card is the labeled lines in the docstring of an algorithm's module. "Bits" lists the causes of different bits in
floating-point results.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.bits import RANKS, derive, of_floats
from collectives.verification.cases import REDUCING
from collectives.verification.fault import AlgorithmFault
from collectives.verification.machine import Machine


def wrong_bits(algorithm: Algorithm, machine: Machine, ranks: int) -> Iterator[tuple[Case, AlgorithmFault]]:
    """Yield a fault if the order of the operands, or computed sums of floats, contradict the claim on the card."""
    if algorithm.operation not in REDUCING or algorithm.kind not in ("intra", "inter"):
        return
    try:
        claimed = algorithm.bits
    except ValueError as error:
        yield Case(1), AlgorithmFault("bits", str(error), None, None)
        return
    if claimed is None:
        return
    derived, summed = derive(algorithm, machine, ranks), of_floats(algorithm, machine, ranks)
    for evidence, how in ((derived, "the order of the operands"), (summed, "sums of floats that cancel")):
        excess = [each for each in evidence.bits.sources if each not in claimed.sources]
        unequal = evidence.bits.equal is False and claimed.equal is not False
        if excess or unequal:
            what = "differ between ranks" if unequal else f"depend on {excess[0]}"
            message = f"bits {what}, by {how}, but the card claims: {claimed}; write: {derived.bits}"
            fault = AlgorithmFault("bits", message, str(claimed), str(derived.bits))
            yield evidence.seen["ranks" if unequal else excess[0]], fault
            return
    if ranks >= max(RANKS) and derived.bits != claimed:  # some differences do not occur on few ranks
        message = f"the card claims that bits {claimed}, but they {derived.bits}, by the order of the operands"
        yield Case(max(RANKS)), AlgorithmFault("bits", message, str(claimed), str(derived.bits))
