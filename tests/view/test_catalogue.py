"""The catalogue as a table and as cards, at fixed widths."""

from __future__ import annotations

from fakempi.view.catalogue import Entry, cards, overview
from tests.view.test_comparison import shown

CARD = {
    "Rounds": "p-1; at most", "Sent per rank": "(p-1) m bytes", "Scratch": "none", "Time": "(p-1) (t_s + m t_w)",
    "Fits": "any p", "Best": "long blocks, for which nothing sends fewer bytes, though it takes many rounds",
    "Source": "an author, 1999",
}  # fmt: skip
ENTRIES = [Entry("allgather", "ring", CARD), Entry("allgather", "bruck", CARD), Entry("bcast", "chain", CARD)]


def test_each_algorithm_has_a_line_below_its_operation() -> None:
    """The first clause of a claim; wide terminals show more."""
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


def test_a_card_has_all_entries() -> None:
    """Wrapped to the width, without empty entries."""
    assert shown(cards(ENTRIES[:1]), 60) == """\
allgather ring
  rounds         p-1; at most
  sent per rank  (p-1) m bytes
  scratch        none
  time           (p-1) (t_s + m t_w)
  fits           any p
  best           long blocks, for which nothing sends fewer
                 bytes, though it takes many rounds
  source         an author, 1999
"""


def test_an_algorithm_of_another_package_is_marked() -> None:
    """In a line and on a card; a card may lack lines, or all of them."""
    entries = [
        Entry("bcast", "knomial", {"Time": "short; mostly"}, "k=4, order=up", "some-pack 1.2"),
        Entry("bcast", "mine", {}, "", "./mine.py"),
    ]
    assert shown(overview(entries)) == """\
algorithm                   time
─────────────────────────────────
bcast
  knomial (some-pack 1.2)   short
  mine (./mine.py)"""
    assert shown(cards(entries), 60) == """\
bcast knomial
  time        short; mostly
  parameters  k=4, order=up
  from        some-pack 1.2
  lacks       Rounds, Sent per rank, Scratch, Fits, Best,
              Source

bcast mine
  from   ./mine.py
  lacks  Rounds, Sent per rank, Scratch, Time, Fits, Best,
         Source
"""
