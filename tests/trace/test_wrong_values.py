"""Trace files with a wrong value in any one place, and with enormous numbers."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import fakempi
from fakempi.errors import TraceError
from fakempi.trace import files, validation

VALUES: tuple[Any, ...] = (None, -1, "x", {}, [None])
ABOUT = {
    "command": "fakempi run", "cost": "Hockney", "date": "2026-11-16", "versions": {"fakempi": "1", "Python": "3.11"},
    "findings": [{"text": "a finding", "ranks": [0, 1], "note": False}],
    "ended": {
        "kind": "DeadlockError", "text": "deadlock", "headline": "deadlock", "time": 1.5, "cycle": [0, 1],
        "stuck": [{"rank": 0, "call": "recv", "site": "a.py:1", "since": 0.5, "polls": False,
                   "wants": [{"words": "a message", "awaits": [1]}]}],
        "misses": [{"rank": 0, "sender": 1, "tag": 7, "but": "its tag"}],
    },
    "died": [{"rank": 1, "time": 0.5}],
    "schedule": {
        "token": "z:0", "fails": True, "why": "a choice", "time": 0.5, "rank": 1, "words": "took", "message": 0,
    },
}  # fmt: skip


def program(comm: Any) -> None:
    """One message per rank, in a region."""
    with fakempi.region("phase"):
        comm.sendrecv("x", 1 - comm.rank)


def head_of(directory: Path) -> dict[str, Any]:
    """A complete JSON file with all optional entries."""
    trace = fakempi.run(program, 2, trace=True).trace
    assert trace is not None
    trace.save(directory / "t.json")
    content: dict[str, Any] = json.loads((directory / "t.json").read_text(encoding="utf-8"))
    content["otherData"]["fakempi"]["about"] = copy.deepcopy(ABOUT)
    content["traceEvents"] = []
    return content


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The positions of all values: keys and indices."""
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


@pytest.mark.sample
@pytest.mark.slow
def test_a_wrong_value_in_any_place_is_rejected_or_can_be_shown(tmp_path: Path) -> None:
    """Including null, which differs from an omitted value."""
    content, path, refused = head_of(tmp_path), tmp_path / "wrong.json", set()
    for place in places(content):
        for number, value in enumerate(VALUES):
            changed = copy.deepcopy(content)
            inside = changed
            for key in place[:-1]:
                inside = inside[key]
            if type(inside[place[-1]]) is type(value) and inside[place[-1]] == value:
                continue
            inside[place[-1]] = value
            path.write_text(json.dumps(changed), encoding="utf-8")
            try:
                trace = fakempi.load(path)
            except TraceError:
                refused.add((place, number))
            else:
                if "about" in place:  # views rely on these; other tests show rows and names
                    trace.show(console=Console(file=io.StringIO(), width=80))
    about = ("otherData", "fakempi", "about")
    nulls = {place for place, number in refused if number == 0}
    assert {(*about, key) for key in ABOUT} <= nulls
    assert {(*about, "ended", key) for key in ABOUT["ended"]} <= nulls
    assert {(*about, "schedule", key) for key in ABOUT["schedule"]} <= nulls
    assert {("otherData", "fakempi", key) for key in ("clocks", "calls", "names", "transfers", "about", "format")} <= nulls


def test_an_omitted_value_has_a_default(tmp_path: Path) -> None:
    """If files of earlier versions do not have it."""
    content, path = head_of(tmp_path), tmp_path / "less.json"
    about = content["otherData"]["fakempi"]["about"]
    for table, keys in ((about, list(ABOUT)), (about["ended"], ["time", "cycle", "stuck", "misses"])):
        for key in keys:
            kept = table.pop(key)
            path.write_text(json.dumps(content), encoding="utf-8")
            fakempi.load(path).show(console=Console(file=io.StringIO(), width=80))
            table[key] = kept


def test_a_claim_of_too_many_ranks_is_rejected_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both kinds of files, for any spacing, and if the list has no end; names and calls are counted, too."""
    monkeypatch.setattr(validation, "MAX_RANKS", 1000)
    content = head_of(tmp_path)
    head = content["otherData"]["fakempi"]
    head["clocks"] = [0.0] * 1001
    texts = [json.dumps(content), json.dumps(content, separators=(",", ":")), json.dumps(content, indent=1)]
    with monkeypatch.context() as patch:
        patch.setattr(json, "loads", lambda text: pytest.fail("it was parsed"))
        for text in (*texts, texts[0][: texts[0].index("]", texts[0].index("clocks"))]):
            (tmp_path / "t.json").write_text(text, encoding="utf-8")
            with pytest.raises(TraceError, match=r"t\.json: .* it has 1,001 ranks; the maximum is 1,000\.$"):
                fakempi.load(tmp_path / "t.json")
        tables: dict[str, Any] = {name: np.zeros(0, table.dtype) for name, table in files.TABLES.items()}
        np.savez_compressed(tmp_path / "t.npz", head=np.array(json.dumps(head)), **tables)
        with pytest.raises(TraceError, match=r"t\.npz: .* it has 1,001 ranks; the maximum is 1,000\.$"):
            fakempi.load(tmp_path / "t.npz")
    monkeypatch.setattr(validation, "MAX_NAMES", 10)
    head["clocks"] = [0.0] * 2
    for key, many in (("names", ["x"] * 11), ("calls", [["a", "b", 1]] * 11)):
        (tmp_path / "t.json").write_text(
            json.dumps({**content, "otherData": {"fakempi": {**head, key: many}}}), encoding="utf-8"
        )
        with pytest.raises(TraceError, match=rf"it has 11 {key}; the maximum is 10\.$"):
            fakempi.load(tmp_path / "t.json")
