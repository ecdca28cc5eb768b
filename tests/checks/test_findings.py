"""Findings: who did what where is said once for all ranks that did it, the worst first, and never more than a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.checks.findings import CUSTOMARY, KINDS, NOTES, Ledger, headline, lines
from fakempi.checks.ranks import Names


def found(*entries: tuple[str, int, str, str, str, tuple[int, ...]]) -> list[fakempi.Finding]:
    """The findings of a ledger in which these were entered."""
    ledger = Ledger(Names())
    for kind, rank, call, place, sentence, others in entries:
        ledger.add(kind, rank, call, place, sentence, others)
    return ledger.findings()


def test_ranks_that_did_the_same_at_the_same_place_share_a_finding() -> None:
    """Their peers are folded as well."""
    lost = (("message-lost", rank, "send", "w.py:3", "{others} never received it", (rank + 1,)) for rank in range(3))
    (one,) = found(*lost)
    assert str(one) == "message-lost: ranks 0-2: send at w.py:3: ranks 1-3 never received it"
    assert (one.ranks, one.place, one.times, one.note) == ((0, 1, 2), "w.py:3", 3, False)


def test_what_is_seen_again_and_again_is_counted() -> None:
    """It is listed once."""
    (one,) = found(*[("message-lost", 1, "send", "w.py:3", "nobody received it", ())] * 1000)
    assert str(one).endswith("nobody received it (1,000 times)")


@given(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=60))
def test_the_worst_come_first_and_a_screen_is_enough(kinds: list[str]) -> None:
    """What is left out is counted."""
    findings = found(*((kind, 0, "send", f"w.py:{line}", "x", ()) for line, kind in enumerate(kinds)))
    order = [list(KINDS).index(one.kind) for one in findings]
    assert order == sorted(order)
    assert len(findings) == len(kinds)
    shown = lines(findings)
    assert len(shown) <= 20
    left_out = len(kinds) - len(shown) + 1 if len(kinds) > 20 else 0
    assert not left_out or shown[-1].startswith(f"... and {left_out} more: ")


def test_a_headline_tells_findings_from_notes() -> None:
    """Both are counted."""
    findings = found(
        ("wildcard-race", 0, "recv", "w.py:1", "x", ()),
        ("message-lost", 0, "send", "w.py:2", "x", ()),
        ("message-lost", 0, "send", "w.py:3", "x", ()),
    )
    assert [one.note for one in findings] == [False, False, True]
    assert headline(findings) == "2 findings and 1 note"
    assert headline(findings[2:]) == "1 note"
    assert findings[0].as_record() == {
        "kind": "message-lost", "ranks": [0], "call": "send", "place": "w.py:2", "note": False, "sentence": "x", "times": 1,
    }  # fmt: skip


def test_customary_leaks_and_notes_are_kinds() -> None:
    """Names in the tables are the same."""
    assert set(KINDS) > NOTES | CUSTOMARY
    assert "communicator-leak" in CUSTOMARY


def tells(comm: fakempi.MPI.Comm, at_once: bool) -> int:
    """A program in which every rank but the last is found to be wrong."""
    if comm.Get_rank() < comm.Get_size() - 1:
        comm._process.universe.found(
            "datatype-mismatch", comm.Get_rank(), "x", call="Recv", place="w.py:9", at_once=at_once
        )
    comm.Barrier()
    return comm.Get_rank()


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_run_lists_findings_and_a_strict_one_fails(carrier: str, at_once: bool) -> None:
    """At once, if data are wrong: then no other rank comes to it."""
    done = fakempi.run(tells, 4, at_once, carrier=carrier)
    assert done.returns == [0, 1, 2, 3]
    assert [one.ranks for one in done.findings] == [(0, 1, 2)]
    with pytest.raises(fakempi.FindingsError, match="1 finding in a strict run:\n  datatype-mismatch") as error:
        fakempi.run(tells, 4, at_once, carrier=carrier, strict=True)
    assert [one.ranks for one in error.value.findings] == [(0,) if at_once else (0, 1, 2)]


def test_a_failed_run_has_its_findings_too() -> None:
    """They may be why it failed."""

    def main(comm: fakempi.MPI.Comm) -> None:
        comm._process.universe.found("message-lost", comm.Get_rank(), "x", call="send", place="w.py:9")
        raise ValueError("no")

    with pytest.raises(fakempi.RankError) as error:
        fakempi.run(main, 1)
    assert [one.kind for one in error.value.findings] == ["message-lost"]
