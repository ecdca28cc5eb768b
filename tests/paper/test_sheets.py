"""What is known on paper of the algorithms is what they claim themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import collectives
from collectives.catalogue.case import Case
from fakempi.paper.clocks import Round
from fakempi.paper.sheets import _KNOWN, Size, sheet_of

OURS = {
    f"{each.run.__module__}.{each.run.__qualname__}": each
    for each in collectives.CATALOGUE
    if hasattr(each.run, "__qualname__")
}
SIZES = (2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 32)


def test_each_text_is_that_of_an_algorithm() -> None:
    """Texts are known by their names, which somebody may change."""
    assert set(_KNOWN) <= set(OURS)


@pytest.mark.parametrize("name", sorted(_KNOWN))
def test_rounds_are_those_of_the_schedule(name: str) -> None:
    """Round by round, in as many messages of as many bytes, of which as many are combined."""
    algorithm, served = OURS[name], 0
    for p in SIZES:
        for nbytes in (0, 8, 24, 256, 264):
            uneven = algorithm.operation == "allgatherv" and p % 2
            blocks = tuple(nbytes + uneven * 8 * (r % 3) for r in range(p))
            sheet = sheet_of(algorithm.run, Size(p, nbytes, 8, blocks))
            counted = algorithm.operation in ("reduce_scatter_block", "allgatherv")
            counts = tuple(size // 8 for size in blocks)
            case = Case(p, counts=counts, itemsize=8) if counted else Case(p, m=nbytes, itemsize=8)
            plan: Any = None if algorithm.fits(case) else algorithm.plan(case)
            if sheet is None or plan is None:
                continue
            served += 1
            rounds = [
                {(r, int(to), size, size * each.combines) for r, to, size in _sent(each, p) if to >= 0}
                for each in sheet.rounds()
            ]
            assert rounds == [{tuple(transfer) for transfer in transfers} for transfers in plan if transfers]
            for each in sheet.rounds():
                pairs = {(r, int(to)) for r, to in enumerate(each.dest) if to >= 0}
                assert pairs == {(int(source), r) for r, source in enumerate(each.source) if source >= 0}
                assert each.whole == (len(pairs) == p)
    assert served


def _sent(each: Round, p: int) -> list[tuple[int, int, int]]:
    """Who sends to whom, and how many bytes."""
    sizes = each.nbytes.tolist() if isinstance(each.nbytes, np.ndarray) else [each.nbytes] * p
    return list(zip(range(p), each.dest.tolist(), sizes, strict=True))


def test_a_text_of_somebodys_own_is_not_known() -> None:
    """Whatever its name."""

    def barrier_dissemination(comm: Any, *, tag: int = 0) -> None: ...

    assert sheet_of(barrier_dissemination, Size(4, 0)) is None


def test_what_sends_nothing_is_not_on_paper() -> None:
    """Nobody waits for anybody."""
    algorithm = collectives.find("allreduce", "recursive_doubling")
    assert sheet_of(algorithm.run, Size(4, 0)) is None
    assert sheet_of(algorithm.run, Size(1, 8)) is None
