"""Trace files may come from anywhere: invalid ones are rejected in a sentence, and nothing is executed or printed raw."""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.errors import TraceError, printable
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns
from fakempi.trace.files import write
from fakempi.trace.packing import packed, unpacked
from fakempi.trace.record import Trace, load
from tests.helpers.loops import for_each
from tests.trace.lists import in_lists

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
Change = Callable[[dict[str, Any]], Any]


def program(comm: Any) -> None:
    """A program with all kinds of records."""
    with fakempi.region("phase"):
        fakempi.compute(1e-6)
        comm.Allreduce(MPI.IN_PLACE, np.ones(4))
    comm.sendrecv("x", 1 - comm.rank)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with t.json and t.npz."""
    directory = tmp_path_factory.mktemp("traces")
    trace = fakempi.run(program, 2, trace=True).trace
    assert trace is not None
    for name in ("t.json", "t.npz"):
        trace.save(directory / name)
    return directory


def changed(saved: Path, path: Path, change: Change) -> Path:
    """The trace as JSON with a modification."""
    content = json.loads((saved / "t.json").read_text())
    in_lists(content["otherData"]["fakempi"])
    change(content["otherData"]["fakempi"])
    path.write_text(json.dumps(content))
    return path


def put(table: str, column: str, value: Any) -> Change:
    """Replace a value in the first row of a column."""
    return lambda head: head[table][column].__setitem__(0, value)


def change_about(**changes: Any) -> Change:
    """Replace another value of the run."""
    return lambda head: head["about"].update(changes)


ENDED = {"kind": "DeadlockError", "text": "", "headline": ""}
STUCK = {"rank": 0, "call": "recv", "site": "a.py:1", "since": 0.0, "polls": False, "wants": []}

NOT_A_NUMBER = "since in stuck in ended in the metadata is 'nan', not a number"
NOT_AN_INTEGER = "rank in stuck in ended in the metadata is 'True', not an integer"
NO_CHOICE = "the deciding choice of the schedule refers to a missing rank or message"

WRONG: list[tuple[Change, str]] = [
    (put("transfers", "source", 2), "source 2 of transfers is not in the range 0 to 1"),
    (put("transfers", "dest", -1), "dest -1 of transfers is not in the range 0 to 1"),
    (put("computes", "rank", 99), "rank 99 of computes is not in the range 0 to 1"),
    (put("regions", "rank", -5), "rank -5 of regions is not in the range 0 to 1"),
    (put("regions", "name", 999), "name 999 of regions is not in the range 0 to 3"),
    (put("regions", "root", 7), "root 7 of regions is not in the range -1 to 1"),
    (put("regions", "parent", 0), "region 0 has the parent 0, which does not precede it"),
    (put("transfers", "nbytes", -8), f"nbytes -8 of transfers is not in the range 0 to {2**62 - 1}"),
    (put("transfers", "start", float("nan")), "start nan of transfers is not a time"),
    (put("transfers", "start", float("inf")), "start inf of transfers is not a time"),
    (put("transfers", "posted", None), "posted inf of transfers is not a time"),
    (put("computes", "end", -1.0), "end -1.0 of computes is not a time"),
    (put("computes", "end", 1e200), "end 1e+200 of computes is not a time"),
    (put("transfers", "tag", 10**30), "tag of transfers: Python int too large to convert to C long"),
    (put("transfers", "tag", "7"), "tag of transfers: not all values are numbers"),
    (put("transfers", "tag", 1.5), "tag of transfers: not all values are numbers"),
    (put("transfers", "start", [1]), "start of transfers: not all values are numbers"),
    (lambda head: head.update(clocks=[]), "it has no ranks"),
    (lambda head: head.update(clocks=[1.0, float("nan")]), "nan is not a valid clock"),
    (lambda head: head.update(clocks=[1.0, -1]), "-1.0 is not a valid clock"),
    (lambda head: head.update(clocks=[1.0, "x"]), "clocks must be numbers"),
    (lambda head: head.update(clocks=[1.0, 10**400]), "int too large to convert to float"),
    (lambda head: head.update(clocks="ab"), "clocks, calls and names must be lists"),
    (lambda head: head.update(names=[1]), "'1' is not a name"),
    (lambda head: head.update(names=["x" * 20_000]), f"'{'x' * 80}' is not a name"),
    (lambda head: head.update(calls=[["a", "b"]]), "\"['a', 'b']\" is not a call (name, file, line)"),
    (lambda head: head.update(calls=[["a", "b", -1]]), "\"['a', 'b', -1]\" is not a call (name, file, line)"),
    (lambda head: head.update(calls=[["a", "b", 10**30]]), f"{str(['a', 'b', 10**30])!r} is not a call (name, file, line)"),
    (lambda head: head["transfers"].update(tag=5), "the columns of transfers must be lists"),
    (lambda head: head.update(about=[]), "the metadata is a list, not a table"),
    (change_about(versions=["3"]), "versions in the metadata is a list, not a table"),
    (change_about(findings={}), "findings in the metadata is a dict, not a list"),
    (change_about(findings=[{"text": "x"}]), "findings in the metadata has no ranks"),
    (change_about(ended="badly"), "ended in the metadata is a str, not a table"),
    (change_about(ended={**ENDED, "time": "soon"}), "time in ended in the metadata is 'soon', not a number"),
    (change_about(ended={**ENDED, "stuck": [{**STUCK, "rank": 2}]}), "blocked rank 2 does not exist: the ranks are 0 to 1"),
    (change_about(ended={**ENDED, "stuck": [{**STUCK, "rank": True}]}), NOT_AN_INTEGER),
    (change_about(ended={**ENDED, "stuck": [{**STUCK, "since": float("nan")}]}), NOT_A_NUMBER),
    (change_about(ended={**ENDED, "cycle": ["0"]}), "cycle in ended in the metadata is '0', not an integer"),
    (change_about(died=[{"rank": 2, "time": 0.0}]), "rank 2, which died, does not exist: the ranks are 0 to 1"),
    (change_about(schedule={"token": "z:0", "fails": True, "rank": 9}), NO_CHOICE),
    (change_about(died=[{"rank": 2, "time": 0.0}]), "rank 2, which died, does not exist: the ranks are 0 to 1"),
    (change_about(schedule={"token": "z:0", "fails": 1}), "fails in schedule in the metadata is '1', not true or false"),
]


@for_each("change, words", WRONG)
def test_every_number_and_name_is_checked(change: Change, words: str, saved: Path, tmp_path: Path) -> None:
    """The message has the position and the value."""
    with pytest.raises(TraceError, match=rf"t\.json: the trace is damaged: {re.escape(words)}\.$"):
        load(changed(saved, tmp_path / "t.json", change))


@for_each("transfers, words", [({}, "'posted' is missing"), (5, "a part is not a table")])
def test_missing_columns_are_reported(transfers: Any, words: str, saved: Path, tmp_path: Path) -> None:
    """The message has the name of the column."""
    with pytest.raises(TraceError, match=rf"t\.json: JSON, but not a trace that fakempi wrote: {re.escape(words)}\.$"):
        load(changed(saved, tmp_path / "t.json", lambda head: head.update(transfers=transfers)))


ROWS = packed(np.ones(9, COMPUTES.dtype))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**ROWS, "rows": 8}, "8 rows take 192 bytes, but there are more"),
        ({**ROWS, "rows": 10}, "10 rows take 240 bytes, but there are fewer"),
        ({**ROWS, "rows": 10**12}, "40 characters cannot contain 1,000,000,000,000 rows"),
        ({**ROWS, "rows": -1}, "rows must be a number of rows, and packed must be a text"),
        ({**ROWS, "rows": True}, "rows must be a number of rows, and packed must be a text"),
        ({**ROWS, "packed": 5}, "rows must be a number of rows, and packed must be a text"),
        ({**ROWS, "packed": ROWS["packed"][:-4]}, "9 rows take 216 bytes, but there are fewer"),
        ({**ROWS, "packed": "Ä" * 40}, "the text is not deflated data in base64"),
        ({**ROWS, "packed": "!" * 40}, "the text is not deflated data in base64"),
        ({**ROWS, "packed": "AAAA" * 10}, "the text is not deflated data in base64"),
    ],
)
def test_packed_rows_have_the_stated_size(changes: dict[str, Any], words: str, saved: Path, tmp_path: Path) -> None:
    """Otherwise they are rejected, before much is unpacked; then they are checked like all others."""
    content = json.loads((saved / "t.json").read_text())
    content["otherData"]["fakempi"]["computes"] = changes
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(TraceError, match=r"t\.json: the trace is damaged: computes: " + re.escape(words)):
        load(tmp_path / "t.json")


def test_packed_rows_are_checked_like_all_others(saved: Path, tmp_path: Path) -> None:
    """A rank that does not exist."""
    content = json.loads((saved / "t.json").read_text())
    head = content["otherData"]["fakempi"]
    rows = unpacked(head["computes"], COMPUTES)
    rows["rank"] = 7
    head["computes"] = packed(rows)
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(TraceError, match=r"damaged: rank 7 of computes is not in the range 0 to 1\.$"):
        load(tmp_path / "t.json")


def test_pickles_are_not_read(tmp_path: Path) -> None:
    """An array of objects could execute code."""

    class Malicious:
        def __reduce__(self) -> Any:
            return pytest.fail, ("it ran",)

    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    raw.write(pickle.dumps([Malicious()]))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
        file.writestr("head.npy", raw.getvalue())
    with pytest.raises(TraceError, match=r"t\.npz: not a trace: Object arrays cannot be loaded"):
        load(tmp_path / "t.npz")


def test_a_small_file_with_enormous_contents_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is unpacked."""
    monkeypatch.setattr("fakempi.trace.files.LARGE", 2**20)
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("head.npy", "w") as member:
        for _ in range(3):
            member.write(bytes(2**20))
    with pytest.raises(TraceError, match=r"t\.npz: not a trace: its \d,\d{3} bytes would expand to 3,145,728\.$"):
        load(tmp_path / "t.npz")


def test_a_wrong_shape_is_rejected(saved: Path, tmp_path: Path) -> None:
    """Of the stated size, or of more dimensions."""
    for shape in ((10**15,), (2, 2)):
        raw = io.BytesIO()
        header = {"descr": np.lib.format.dtype_to_descr(TRANSFERS.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(raw, header)
        raw.write(bytes(4 * TRANSFERS.size))
        with zipfile.ZipFile(saved / "t.npz") as whole, zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
            for name in whole.namelist():
                file.writestr(name, raw.getvalue() if name == "transfers.npy" else whole.read(name))
        with pytest.raises(TraceError, match=r"t\.npz: (not a trace|the trace is damaged)"):
            load(tmp_path / "t.npz")


@pytest.mark.parametrize("text", ["[" * 99_999, '{"otherData": [1]}', "9" * 5000, "[]", "null", "\ufeff{}", '"' + "x" * 999])
def test_other_files_are_rejected_in_a_sentence(text: str, tmp_path: Path) -> None:
    """Nested too deeply, numbers too long, other contents."""
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    with pytest.raises(TraceError, match=r"^[^\n]{1,400}\.$"):
        load(tmp_path / "t.json")


def test_an_archive_with_wrong_offsets_is_rejected(saved: Path, tmp_path: Path) -> None:
    """The member that starts the archive is then at a negative offset."""
    content = bytearray((saved / "t.npz").read_bytes())
    offset = content.rindex(b"PK\5\6") + 16  # of the central directory, in the record that ends the archive
    content[offset : offset + 4] = (int.from_bytes(content[offset : offset + 4], "little") + 4).to_bytes(4, "little")
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(TraceError, match=r"t\.npz: not a trace"):
        load(tmp_path / "t.npz")


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_damaged_file_is_read_or_rejected(data: st.DataObject, saved: Path, tmp_path: Path) -> None:
    """For any missing or changed bytes: no other exception."""
    name = data.draw(st.sampled_from(["t.json", "t.npz"]))
    content = bytearray((saved / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(len(content) // 2, len(content)) | st.just(len(content))) :]
    (tmp_path / name).write_bytes(content)
    with suppress(TraceError):
        assert load(tmp_path / name).ranks


def test_control_characters_are_escaped(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of regions, calls and files, in all pictures and messages."""

    def hostile(head: dict[str, Any]) -> None:
        head["names"] = [f"{name}{ESCAPE}\ud800\u202e" for name in head["names"]]
        head["calls"] = [[f"{name}{ESCAPE}", f"{file}{ESCAPE}\n", line] for name, file, line in head["calls"]]

    path = changed(saved, tmp_path / f"t{ESCAPE.replace('/', '')}.json", hostile)
    assert main(["view", str(path), "--what", "summary,timeline,waits,critical,matrix,blocks"]) == 0
    assert main(["view", str(path), str(path)]) == 0
    assert main(["view", f"{path}{ESCAPE}"]) == 2
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e]", text)
    assert r"\x1b[31m" in said.out


def test_texts_of_a_program_do_not_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """In reports of failures: exceptions, and places where it waits."""
    for script in (
        f"raise ValueError({ESCAPE!r})",
        f"exec(compile('from mpi4py import MPI; MPI.COMM_WORLD.recv()', {ESCAPE!r}, 'exec'))",
    ):  # fmt: skip
        assert main(["run", "-n", "1", "-c", script]) == 1
        said = capsys.readouterr().err
        assert "\x1b" not in said
        assert "\x07" not in said


def test_regions_of_a_run_have_printable_names() -> None:
    """In its trace, for any name in the program; letters of all languages are kept."""

    def main(comm: Any) -> None:
        with fakempi.region(f"{ESCAPE}Größe 大"):
            fakempi.compute(1)

    trace = fakempi.run(main, 1, trace=True).trace
    assert trace is not None
    assert trace.regions[0].name == r"\x1b]0;owned\x07\x1b[31mGröße 大"
    assert printable("a\tb\nc\x1b") == r"a\tb\nc\x1b"
    assert printable("a\tb\nc\x1b", keep="\n") == "a\\tb\nc\\x1b"


@pytest.mark.slow
def test_many_clocks_are_shown_quickly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Idle ranks take no time: three million once took minutes."""
    transfers, computes, regions = (np.zeros(0, table.dtype) for table in (TRANSFERS, COMPUTES, REGIONS))
    write(Columns([0.5] * 50_000, [("a", "b", 1)], ["x"], transfers, computes, regions), tmp_path / "t.npz")
    assert main(["view", str(tmp_path / "t.npz"), "--what", "summary,timeline,waits"]) == 0
    assert "25,000 s  100%" in capsys.readouterr().out


def test_totals_of_idle_ranks_are_their_waits() -> None:
    """Although they are not processed one by one."""

    def main(comm: Any) -> None:
        if comm.rank < 2:
            comm.sendrecv("x", 1 - comm.rank)
        if comm.rank == 3:
            with fakempi.region("nothing"):
                pass

    trace: Trace | None = fakempi.run(main, 6, trace=True, cost=fakempi.Hockney(t_s=1, t_w=0)).trace
    assert trace is not None
    found = trace.measure()
    assert {state: seconds for state, (seconds, _) in found.waits.items() if seconds} == {"ended early": 4.0}
    assert found.idle.tolist() == [0, 0, 1, 1, 1, 1]
