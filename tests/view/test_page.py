"""The page for browsers: what is in the file. What it does in a browser is in test_browser.py."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fakempi
from fakempi.errors import TraceError
from fakempi.trace.record import Trace
from fakempi.trace.record import load as bare
from fakempi.trace.waits import STATES
from fakempi.view.page.assemble import page
from fakempi.view.page.packing import packed
from tests.view import runs


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Head and columns, as the browser reads them."""
    data = zlib.decompress(b64decode(text))
    size = int.from_bytes(data[:4], "little")
    head = json.loads(data[4 : 4 + size])
    columns, at = {}, 4 + size
    for name, length, kind in head["columns"]:
        width = 8 if kind == "d" else 4
        planes = np.frombuffer(data, np.uint8, width * length, at).reshape(width, length).T.copy()
        column = planes.view("<f8" if kind == "d" else "<i4").reshape(length)
        columns[name] = column if kind == "d" else np.cumsum(column, dtype=np.int32)
        at += width * length
    assert at == len(data)
    return head, columns


def data_of(text: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The runs in a page."""
    return [unpacked(found) for found in re.findall(r'class="run">(.*?)</script>', text)]


WHOLE = arrays.arrays(np.int32, st.integers(0, 9))
REAL = arrays.arrays(np.float64, st.integers(0, 9), elements=st.floats(allow_nan=False))


@given(st.lists(WHOLE | REAL, max_size=4))
def test_columns_come_out_as_they_went_in(columns: list[Any]) -> None:
    """To the last bit, whatever numbers they are."""
    named = {f"column {index}": column for index, column in enumerate(columns)}
    head, found = unpacked(packed({"words": "ü"}, named))
    assert head["words"] == "ü"
    assert {name: column.tolist() for name, column in found.items()} == {name: one.tolist() for name, one in named.items()}


def test_a_page_holds_the_trace() -> None:
    """Every message with its times, and what is told of the run."""
    trace = runs.work()
    ((head, columns),) = data_of(page(trace, titles=["work"]))
    assert (head["title"], head["ranks"], head["time"]) == ("work", 8, trace.time)
    order = np.argsort(trace.transfer_rows["start"], kind="stable")
    for name in ("posted", "start", "sent", "arrived"):
        assert columns["times"][columns[f"message.{name}"]].tolist() == trace.transfer_rows[name][order].tolist()
    for name in ("source", "dest", "tag", "nbytes", "call"):
        assert columns[f"message.{name}"].tolist() == trace.transfer_rows[name][order].tolist()
    assert len(columns["path.kind"]) == len(trace.measure().critical_path)


def test_a_page_needs_nothing_from_elsewhere() -> None:
    """No address, no file, and the browser is told to ask for none."""
    text = page(runs.work())
    assert "://" not in text
    assert not re.search(r"<(?:img|iframe|object)\b|<script[^>]*\bsrc=|@import|url\(", text)
    assert "default-src 'none'" in text
    for promised in ("timeline", "tooltip", "search", "legend"):
        assert f'id="{promised}"' in text
    assert not re.search(r"<!--|/\*[A-Z]+\*/", text)  # every part is in its place


def test_names_of_the_program_are_not_markup() -> None:
    """A region may be called anything."""

    def main(comm: Any) -> None:
        with fakempi.region("</script><b>"):
            comm.Barrier()

    text = page(runs.traced(main, 2), titles=["<i>"])
    assert "<title>&lt;i&gt;</title>" in text
    assert "</script><b>" not in text
    assert data_of(text)[0][0]["names"].count("</script><b>") == 1


def test_a_message_takes_few_bytes() -> None:
    """Far below 5 MB for 30,000 of them."""

    def main(comm: Any) -> None:
        for step in range(20):
            fakempi.compute(1e-6 * ((comm.rank * 7 + step * 3) % 11))
            comm.Sendrecv(fakempi.phantom(100), (comm.rank + 1) % 64, 0, fakempi.phantom(100), (comm.rank - 1) % 64, 0)

    trace = runs.traced(main, 64)
    empty = len(page(runs.traced(lambda comm: None, 64)))
    assert (len(page(trace)) - empty) / len(trace) < 60


def test_bytes_beyond_32_bits_are_exact() -> None:
    """A phantom may be of any size."""
    many = 2**40 + 1
    trace = runs.traced(lambda comm: comm.Sendrecv(fakempi.phantom(many), 0, 0, fakempi.phantom(many), 0, 0), 1)
    assert data_of(page(trace))[0][1]["message.nbytes"].tolist() == [many]


def test_a_trace_is_saved_as_a_page(tmp_path: Path) -> None:
    """From a run and from a file; one that nobody introduced to pictures says so."""
    trace = runs.work()
    trace.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    trace.save(tmp_path / "t.npz")
    fakempi.load(tmp_path / "t.npz").save(tmp_path / "again.html")
    with pytest.raises(TraceError, match=r"^save: nobody draws this trace; fakempi\.load\(path\) gives one"):
        bare(tmp_path / "t.npz").save(tmp_path / "no.html")


def stuck(main: Any, ranks: int) -> fakempi.DeadlockError:
    """What a deadlock raises."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, ranks, trace=True)
    return caught.value


def test_a_deadlock_is_in_the_trace_and_in_the_page(tmp_path: Path) -> None:
    """Who waits for whom, the circle, near misses; also after it was in a file."""

    def main(comm: Any) -> None:
        comm.send(None, (comm.rank + 1) % 3, tag=5)
        comm.recv(source=(comm.rank + 2) % 3, tag=7)

    error = stuck(main, 3)
    for name in ("t.npz", "t.json"):
        error.trace.save(tmp_path / name)
        ((head, _),) = data_of(page(fakempi.load(tmp_path / name)))
        ended = head["ended"]
        assert ended["text"] == str(error)
        assert ended["headline"] == "deadlock at t = 1.004e-06 s"
        assert sorted(ended["cycle"]) == [0, 1, 2]
        assert ended["stuck"][0]["wants"] == [{"words": "a message from rank 2 with tag 7", "awaits": [2]}]
        assert ended["misses"][0] == {"rank": 0, "sender": 2, "tag": 5, "but": "but tag 7 is awaited"}


def test_a_deadlock_of_many_stays_small() -> None:
    """Everybody waits for the same 999 at a barrier: that is not a million numbers."""
    error = stuck(lambda comm: (comm.rank and comm.Barrier()) or comm.recv(source=1), 1000)
    assert len(json.dumps(error.trace.about)) < 300_000


def test_findings_are_in_the_page() -> None:
    """As records with their sentence."""


    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.send(None, 1)

    run = fakempi.run(main, 2, trace=True)
    assert run.trace is not None
    with pytest.raises(fakempi.FindingsError) as caught:
        fakempi.run(main, 2, trace=True, strict=True)
    for trace in (run.trace, caught.value.trace):
        text = page(trace)
        ((head, _),) = data_of(text)
        assert head["ended"] is None
        (told,) = head["findings"]
        assert (told["kind"], told["ranks"], told["note"]) == ("message-lost", [0], False)
        assert told["text"] == str(run.findings[0])
        assert f"<pre>{told['text']}</pre>" in text  # for those without scripts


def test_a_run_tells_how_it_came_about(tmp_path: Path) -> None:
    """Its cost model, what was typed, versions and the date."""
    trace: Trace = runs.work()
    assert trace.about["cost"].startswith("Hockney(t_s=1e-06")
    assert set(trace.about) == {"command", "cost", "date", "versions", "findings"}
    for name in ("t.npz", "t.json"):
        trace.save(tmp_path / name)
        assert fakempi.load(tmp_path / name).about == trace.about


def test_what_cannot_be_a_page_is_refused() -> None:
    """In a sentence."""
    trace = runs.work()
    with pytest.raises(TraceError, match=r"^page: 0 traces were given; it shows one, or two on one scale\.$"):
        page()
    with pytest.raises(TraceError, match=r"^page: there is no tab 'joy'; there are summary, waits, "):
        page(trace, tab="joy")


def test_every_wait_state_has_a_colour_of_its_own() -> None:
    """The page has them by number."""
    source = (Path(fakempi.__file__).parent / "view" / "page" / "3_paint.js").read_text(encoding="utf-8")
    colours = re.findall(r"#\w{6}", source.partition("const WAITS = ")[2].partition(";")[0])
    assert len(set(colours)) == len(colours) == len(STATES)
