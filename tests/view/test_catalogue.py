"""The catalogue as a table and as cards, at fixed widths."""

from __future__ import annotations

from fakempi.view.catalogue import Entry, cards, overview
from tests.view.test_comparison import shown

CARD = {
    "Rounds": "p-1; at most", "Sent per rank": "(p-1) m bytes", "Scratch": "none", "Time": "(p-1) (t_s + m t_w)",
    "Fits": "any p", "Best": "long blocks, for which nothing sends fewer bytes, though it takes many rounds",
    "Parameters": "", "Source": "somebody, 1999",
}  # fmt: skip
ENTRIES = [Entry("allgather", "ring", CARD), Entry("allgather", "bruck", CARD), Entry("bcast", "chain", CARD)]


def test_a_line_for_each_algorithm_below_its_operation() -> None:
    """The first clause of a claim is enough there; on wide terminals there is room for more of them."""
    assert shown(overview(ENTRIES)) == """\
algorithm   time
───────────────────────────────
allgather
  ring      (p-1) (t_s + m t_w)
  bruck     (p-1) (t_s + m t_w)

bcast
  chain     (p-1) (t_s + m t_w)"""
    assert "  bruck     p-1      (p-1) (t_s + m t_w)" in shown(overview(ENTRIES, width=100), 100)
    assert "  chain     p-1      (p-1) m bytes   (p-1) (t_s + m t_w)   any p" in shown(overview(ENTRIES, width=160), 160)


def test_a_card_says_everything() -> None:
    """Folded to the width, without what is empty."""
    assert shown(cards(ENTRIES[:1]), 60) == """\
allgather ring
  rounds         p-1; at most
  sent per rank  (p-1) m bytes
  scratch        none
  time           (p-1) (t_s + m t_w)
  fits           any p
  best           long blocks, for which nothing sends fewer
                 bytes, though it takes many rounds
  source         somebody, 1999
"""
