"""Sources of differences in the bits of floating-point sums: derived from the order of operands, claimed on cards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from collectives import CATALOGUE, Algorithm, find
from collectives.catalogue.bits import Bits
from collectives.verification.bit_claims import wrong_bits
from collectives.verification.bits import derive, of_floats, order
from collectives.verification.cases import REDUCING
from collectives.verification.sweep import examine
from fakempi.apps.emulator import Emulator
from tests.helpers.breadth import breadth

REDUCTIONS = [a for a in CATALOGUE if a.operation in REDUCING and a.kind in ("intra", "inter")]
EMULATOR = Emulator()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", REDUCTIONS, ids=repr)
def test_every_card_claims_what_is_derived(algorithm: Algorithm) -> None:
    """The order of the operands on up to 8 or 12 ranks, and sums of floats that cancel."""
    assert [fault.message for _, fault in wrong_bits(algorithm, EMULATOR, breadth(8, 12))] == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["reduce_bcast", "ring", "two_level"])
def test_floats_show_nothing_that_the_order_does_not_show(name: str) -> None:
    """Different bits imply different orders; different orders may by chance have equal bits."""
    algorithm = find("allreduce", name)
    derived, summed = derive(algorithm, EMULATOR, 5).bits, of_floats(algorithm, EMULATOR, 5).bits
    assert derived.equal is summed.equal is True
    assert set(summed.sources) <= set(derived.sources)


def test_floats_that_cancel_show_the_order() -> None:
    """The sums of a ring differ between positions and numbers of ranks."""
    assert of_floats(find("allreduce", "ring"), EMULATOR, 6).bits == Bits(True, ("p", "position"))


def test_order_on_four_ranks() -> None:
    """A binomial tree combines neighbors, and a chain goes from the last rank to the first."""
    assert order(find("allreduce", "reduce_bcast"), EMULATOR, 4) == "(0 + 1) + (2 + 3)"
    assert order(find("reduce", "chain"), EMULATOR, 4) == "0 + (1 + (2 + 3))"
    assert order(find("allreduce", "k_ring"), EMULATOR, 5) == ""


def one_by_one(comm: Any, sendbuf: Any, recvbuf: Any, *, op: Any, tag: int = 0) -> None:
    """Every rank adds the operands that arrive, starting with its own: all ranks have different bits."""
    p, rank = comm.Get_size(), comm.Get_rank()
    recvbuf[:] = sendbuf
    for shift in range(1, p):
        other = recvbuf.copy()
        comm.Sendrecv(sendbuf, (rank + shift) % p, tag, other, (rank - shift) % p, tag)
        op.Reduce_local(other, recvbuf)


DIFFERENT = replace(find("allreduce", "ring"), name="one_by_one", run=one_by_one, schedule=None, closed_time=None)


def test_ranks_with_different_bits_are_found() -> None:
    """Rank r begins with its own operand and continues with r-1, r-2, ..., on any number of ranks."""
    assert derive(DIFFERENT, EMULATOR, 5).bits == Bits(False)
    assert of_floats(DIFFERENT, EMULATOR, 5).bits.equal is False


def test_a_wrong_claim_is_a_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the claim, what was found, and the line to write."""
    ring = find("allreduce", "ring")
    monkeypatch.setattr(type(ring), "bits", Bits(True, ("p",)))
    (found,) = examine(ring, EMULATOR, ranks=5, cases=5).counterexamples
    assert found.summary == (
        "allreduce ring, bits: bits depend on position, by the order of the operands, but the card claims: equal on all "
        "ranks; depend on p; write: equal on all ranks; depend on p, position"
    )


@pytest.mark.parametrize("line", ["same on all ranks", "depend on position, p", "depend on weather"])
def test_other_lines_are_rejected(line: str) -> None:
    """The error shows the line."""
    with pytest.raises(ValueError, match=f"it is '{line}'"):
        Bits.parse(line)
