"""The HTML page: contents of the file. test_browser.py tests its behavior in a browser."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from html import escape
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
from fakempi.trace.wait_names import BLOCKED
from fakempi.trace.waits import STATES
from fakempi.view.page.assemble import page
from fakempi.view.page.packing import packed
from tests.view import runs


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and columns, as the browser reads them."""
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
def test_decoding_columns_inverts_encoding(columns: list[Any]) -> None:
    """Exactly, for any numbers."""
    named = {f"column {index}": column for index, column in enumerate(columns)}
    head, found = unpacked(packed({"words": "ü"}, named))
    assert head["words"] == "ü"
    assert {name: column.tolist() for name, column in found.items()} == {name: one.tolist() for name, one in named.items()}


def test_a_page_contains_the_trace() -> None:
    """Every message with its times, and the data of the run."""
    trace = runs.work()
    ((head, columns),) = data_of(page(trace, titles=["work"]))
    assert (head["title"], head["ranks"], head["time"]) == ("work", 8, trace.time)
    order = np.argsort(trace.transfer_rows["start"], kind="stable")
    for name in ("posted", "start", "sent", "arrived"):
        assert columns["times"][columns[f"message.{name}"]].tolist() == trace.transfer_rows[name][order].tolist()
    for name in ("source", "dest", "tag", "nbytes", "call"):
        assert columns[f"message.{name}"].tolist() == trace.transfer_rows[name][order].tolist()
    assert len(columns["path.kind"]) == len(trace.measure().critical_path)


def test_a_page_is_self_contained() -> None:
    """No address, no file, and the browser is forbidden to load any."""
    text = page(runs.work())
    assert "://" not in text
    assert not re.search(r"<(?:img|iframe|object)\b|<script[^>]*\bsrc=|@import|url\(", text)
    assert "default-src 'none'" in text
    for promised in ("timeline", "tooltip", "search", "legend"):
        assert f'id="{promised}"' in text
    assert not re.search(r"<!--|/\*[A-Z]+\*/", text)  # every part is in place


def test_names_of_the_program_are_escaped() -> None:
    """A region may have any name."""

    def main(comm: Any) -> None:
        with fakempi.region("</script><b>"):
            comm.Barrier()

    text = page(runs.traced(main, 2), titles=["<i>"])
    assert "<title>&lt;i&gt;</title>" in text
    assert "</script><b>" not in text
    assert data_of(text)[0][0]["names"].count("</script><b>") == 1


def test_placeholders_of_the_page_in_an_error_text_stay_text() -> None:
    """The error text is in the page as it is, and the page has its style, its script and its data once."""
    text = " ".join(f"/*{name}*/ <!--{name}-->" for name in ("TITLE", "STYLE", "STATIC", "DATA", "SCRIPT"))

    def main(comm: Any) -> None:
        raise ValueError(text)

    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, 2, trace=True)
    assert isinstance(caught.value.trace, fakempi.Trace)
    drawn, plain = page(caught.value.trace, titles=[text]), page(runs.work())
    assert f"<title>{escape(text)}</title>" in drawn
    assert text in data_of(drawn)[0][0]["ended"]["text"]
    for part in ("class Timeline", ":root {", "<script"):
        assert drawn.count(part) == plain.count(part)


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
    """A phantom may have any size."""
    many = 2**40 + 1
    trace = runs.traced(lambda comm: comm.Sendrecv(fakempi.phantom(many), 0, 0, fakempi.phantom(many), 0, 0), 1)
    assert data_of(page(trace))[0][1]["message.nbytes"].tolist() == [many]


def test_a_trace_is_saved_as_a_page(tmp_path: Path) -> None:
    """From a run and from a file, also one that was read below the views."""
    trace = runs.work()
    trace.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    trace.save(tmp_path / "t.npz")
    fakempi.load(tmp_path / "t.npz").save(tmp_path / "again.html")
    bare(tmp_path / "t.npz").save(tmp_path / "bare.html")
    assert (tmp_path / "bare.html").read_bytes() == (tmp_path / "again.html").read_bytes()


def stuck(main: Any, ranks: int) -> fakempi.DeadlockError:
    """The exception of a deadlock."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, ranks, trace=True)
    return caught.value


def test_a_deadlock_is_in_the_trace_and_in_the_page(tmp_path: Path) -> None:
    """Waiting ranks, the cycle, near misses; also after saving and loading."""

    def main(comm: Any) -> None:
        comm.send(None, (comm.rank + 1) % 3, tag=5)
        comm.recv(source=(comm.rank + 2) % 3, tag=7)

    error = stuck(main, 3)
    assert error.trace is not None
    for name in ("t.npz", "t.json"):
        error.trace.save(tmp_path / name)
        ((head, _),) = data_of(page(fakempi.load(tmp_path / name)))
        ended = head["ended"]
        assert ended["text"] == str(error)
        assert ended["headline"] == "deadlock at t = 1.004e-06 s"
        assert sorted(ended["cycle"]) == [0, 1, 2]
        assert ended["stuck"][0]["wants"] == [{"words": "a message from rank 2 with tag 7", "awaits": [2]}]
        assert ended["misses"][0] == {"rank": 0, "sender": 2, "tag": 5, "but": "but the receive expects tag 7"}


def test_a_deadlock_of_many_ranks_stays_small() -> None:
    """All wait for the same 999 ranks at a barrier: the page does not have a million numbers."""
    error = stuck(lambda comm: (comm.rank and comm.Barrier()) or comm.recv(source=1), 1000)
    assert isinstance(error.trace, fakempi.Trace)
    assert len(json.dumps(error.trace.about)) < 300_000


def test_findings_are_in_the_page() -> None:
    """As records with their text."""


    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.send(None, 1)

    run = fakempi.run(main, 2, trace=True)
    assert run.trace is not None
    with pytest.raises(fakempi.FindingsError) as caught:
        fakempi.run(main, 2, trace=True, strict=True)
    for trace in (run.trace, caught.value.trace):
        assert isinstance(trace, fakempi.Trace)
        text = page(trace)
        ((head, _),) = data_of(text)
        assert (head["ended"] is None) == (trace is run.trace)
        assert head["ended"] is None or head["ended"]["text"] == "1 finding in a strict run"  # without the findings
        (finding,) = head["findings"]
        assert (finding["kind"], finding["ranks"], finding["note"]) == ("message-lost", [0], False)
        assert finding["text"] == str(run.findings[0])
        assert f"<pre>{finding['text']}</pre>" in text  # for browsers without scripts


def test_a_run_has_its_origin(tmp_path: Path) -> None:
    """Its cost model, the command line, versions and the date."""
    trace: Trace = runs.work()
    assert trace.about["cost"].startswith("Hockney(compute_per_byte=1e-09")
    assert set(trace.about) == {"command", "cost", "date", "versions", "findings"}
    for name in ("t.npz", "t.json"):
        trace.save(tmp_path / name)
        assert fakempi.load(tmp_path / name).about == trace.about


def test_other_objects_are_rejected() -> None:
    """In a sentence."""
    trace = runs.work()
    with pytest.raises(TraceError, match=r"^page: 0 traces were given; it shows one or two\.$"):
        page()
    with pytest.raises(TraceError, match=r"^page: tab 'joy' is unknown. Known: summary, waits, "):
        page(trace, tab="joy")


def test_every_wait_state_has_a_distinct_color() -> None:
    """The page has them by number; blocked time has the color of blocked ranks."""
    source = (Path(fakempi.__file__).parent / "view" / "page" / "3_paint.js").read_text(encoding="utf-8")
    colors = re.findall(r"#\w{6}", source.partition("const WAITS = ")[2].partition(";")[0])
    assert len(set(colors)) == len(colors) == len([state for state in STATES if state != BLOCKED])
