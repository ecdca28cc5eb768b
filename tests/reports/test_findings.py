"""Findings: each is reported once for all ranks with the same call and place, the most severe first, at most a screen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.core.reports.findings import KINDS, NOTES, STRICT_ONLY, Ledger, headline, lines
from fakempi.core.reports.ranks import Names


def findings_from(*entries: tuple[str, int, str, str, str, tuple[int, ...]]) -> list[fakempi.Finding]:
    """The findings of a ledger with these entries."""
    ledger = Ledger(Names())
    for kind, rank, call, place, sentence, others in entries:
        ledger.add(kind, rank, call, place, sentence, others)
    return ledger.findings()


def test_ranks_with_the_same_call_at_the_same_place_share_a_finding() -> None:
    """Their peers are folded as well."""
    lost = (("message-lost", rank, "send", "w.py:3", "{others} never received it", (rank + 1,)) for rank in range(3))
    (one,) = findings_from(*lost)
    assert str(one) == "message-lost: ranks 0-2: send at w.py:3: ranks 1-3 never received it"
    assert (one.ranks, one.place, one.times, one.note) == ((0, 1, 2), "w.py:3", 3, False)


def test_repeated_entries_are_counted() -> None:
    """It is listed once."""
    (one,) = findings_from(*[("message-lost", 1, "send", "w.py:3", "no rank received it", ())] * 1000)
    assert str(one).endswith("no rank received it (1,000 times)")


@given(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=60))
def test_the_most_severe_come_first_and_a_screen_is_the_limit(kinds: list[str]) -> None:
    """Omitted findings are counted."""
    findings = findings_from(*((kind, 0, "send", f"w.py:{line}", "x", ()) for line, kind in enumerate(kinds)))
    order = [list(KINDS).index(one.kind) for one in findings]
    assert order == sorted(order)
    assert len(findings) == len(kinds)
    shown = lines(findings)
    assert len(shown) <= 20
    left_out = len(kinds) - len(shown) + 1 if len(kinds) > 20 else 0
    assert not left_out or shown[-1].startswith(f"... and {left_out} more: ")


def test_a_headline_distinguishes_findings_from_notes() -> None:
    """Both are counted."""
    findings = findings_from(
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
    """The tables have the same names."""
    assert set(KINDS) > NOTES | STRICT_ONLY
    assert "communicator-leak" in STRICT_ONLY


def reports_findings(comm: fakempi.MPI.Comm, wrong_data: bool) -> int:
    """A program in which every rank except the last has a finding."""
    if comm.Get_rank() < comm.Get_size() - 1:
        comm._process.universe.report(
            "datatype-mismatch", comm.Get_rank(), "x", call="Recv", place="w.py:9", wrong_data=wrong_data
        )
    comm.Barrier()
    return comm.Get_rank()


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize("wrong_data", [False, True])
def test_a_run_lists_findings_and_a_strict_one_fails(backend: Any, wrong_data: bool) -> None:
    """At once, if data is wrong: no other rank reaches it."""
    done = fakempi.run(reports_findings, 4, wrong_data, backend=backend)
    assert done.returns == [0, 1, 2, 3]
    assert [one.ranks for one in done.findings] == [(0, 1, 2)]
    with pytest.raises(fakempi.FindingsError, match="1 finding in a strict run:\n  datatype-mismatch") as error:
        fakempi.run(reports_findings, 4, wrong_data, backend=backend, strict=True)
    assert [one.ranks for one in error.value.findings] == [(0,) if wrong_data else (0, 1, 2)]


def test_a_failed_run_has_its_findings_too() -> None:
    """They may be the reason of the failure."""

    def main(comm: fakempi.MPI.Comm) -> None:
        comm._process.universe.report("message-lost", comm.Get_rank(), "x", call="send", place="w.py:9")
        raise ValueError("no")

    with pytest.raises(fakempi.RankError) as error:
        fakempi.run(main, 1)
    assert [one.kind for one in error.value.findings] == ["message-lost"]
