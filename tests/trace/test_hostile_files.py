"""Trace files may come from anywhere: what makes no sense is refused in a sentence, and nothing is run or printed raw."""

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
from fakempi.cli import main
from fakempi.errors import TraceError, printable
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns
from fakempi.trace.files import write
from fakempi.trace.packing import packed, unpacked
from fakempi.trace.record import Trace, load
from tests.trace.lists import in_lists

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
Change = Callable[[dict[str, Any]], Any]


def program(comm: Any) -> None:
    """A bit of everything."""
    with fakempi.region("phase"):
        fakempi.compute(1e-6)
        comm.Allreduce(MPI.IN_PLACE, np.ones(4))
    comm.sendrecv("x", 1 - comm.rank)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with t.json and t.npz."""
    folder = tmp_path_factory.mktemp("traces")
    trace = fakempi.run(program, 2, trace=True).trace
    assert trace is not None
    for name in ("t.json", "t.npz"):
        trace.save(folder / name)
    return folder


def changed(saved: Path, path: Path, change: Change) -> Path:
    """The trace as JSON with something else in it."""
    content = json.loads((saved / "t.json").read_text())
    in_lists(content["otherData"]["fakempi"])
    change(content["otherData"]["fakempi"])
    path.write_text(json.dumps(content))
    return path


def put(table: str, column: str, value: Any) -> Change:
    """A value into the first row of a column."""
    return lambda head: head[table][column].__setitem__(0, value)


def tell(**told: Any) -> Change:
    """Something else of the run."""
    return lambda head: head["about"].update(told)


ENDED = {"kind": "DeadlockError", "text": "", "headline": ""}
STUCK = {"rank": 0, "call": "recv", "site": "a.py:1", "since": 0.0, "polls": False, "wants": []}

WRONG: list[tuple[Change, str]] = [
    (put("transfers", "source", 2), "source 2 of transfers is not from 0 to below 2"),
    (put("transfers", "dest", -1), "dest -1 of transfers is not from 0 to below 2"),
    (put("computes", "rank", 99), "rank 99 of computes is not from 0 to below 2"),
    (put("regions", "rank", -5), "rank -5 of regions is not from 0 to below 2"),
    (put("regions", "name", 999), "name 999 of regions is not from 0 to below"),
    (put("regions", "root", 7), "root 7 of regions is not from -1 to below 2"),
    (put("regions", "parent", 0), "region 0 is in region 0, which was entered later"),
    (put("transfers", "nbytes", -8), "nbytes -8 of transfers is not from 0 to below"),
    (put("transfers", "start", float("nan")), "start nan of transfers is not a time"),
    (put("transfers", "start", float("inf")), "start inf of transfers is not a time"),
    (put("transfers", "posted", None), "posted inf of transfers is not a time"),
    (put("computes", "end", -1.0), "end -1.0 of computes is not a time"),
    (put("computes", "end", 1e200), "end 1e+200 of computes is not a time"),
    (put("transfers", "tag", 10**30), "tag of transfers: "),
    (put("transfers", "tag", "7"), "tag of transfers: there is something other than numbers"),
    (put("transfers", "tag", 1.5), "tag of transfers: there is something other than numbers"),
    (put("transfers", "start", [1]), "start of transfers: there is something other than numbers"),
    (lambda head: head.update(clocks=[]), "it has no ranks"),
    (lambda head: head.update(clocks=[1.0, float("nan")]), "nan is not the time of a clock"),
    (lambda head: head.update(clocks=[1.0, -1]), "-1.0 is not the time of a clock"),
    (lambda head: head.update(clocks=[1.0, "x"]), "clocks should be numbers"),
    (lambda head: head.update(clocks=[1.0, 10**400]), "int too large to convert to float"),
    (lambda head: head.update(clocks="ab"), "clocks, calls and names should be lists"),
    (lambda head: head.update(names=[1]), "'1' is not a name"),
    (lambda head: head.update(names=["x" * 20_000]), "is not a name"),
    (lambda head: head.update(calls=[["a", "b"]]), "is not a call: its name, its file and its line"),
    (lambda head: head.update(calls=[["a", "b", -1]]), "is not a call: its name, its file and its line"),
    (lambda head: head.update(calls=[["a", "b", 10**30]]), "is not a call: its name, its file and its line"),
    (lambda head: head.update(transfers={}), "'posted' is missing"),
    (lambda head: head.update(transfers=5), "is missing"),
    (lambda head: head["transfers"].update(tag=5), "transfers should have columns"),
    (lambda head: head.update(about=[]), "what is told of the run is a list, not a table"),
    (tell(versions=["3"]), "versions in what is told of the run is a list, not a table"),
    (tell(findings={}), "findings in what is told of the run is a dict, not a list"),
    (tell(findings=[{"text": "x"}]), "findings in what is told of the run lacks ranks"),
    (tell(ended="badly"), "ended in what is told of the run is a str, not a table"),
    (tell(ended={**ENDED, "time": "soon"}), "time in ended in what is told of the run is 'soon', not a number"),
    (tell(ended={**ENDED, "stuck": [{**STUCK, "rank": 2}]}), "rank 2 is told to wait, and the ranks are 0 to 1"),
    (tell(ended={**ENDED, "stuck": [{**STUCK, "since": float("nan")}]}), "is 'nan', not a number"),
    (tell(ended={**ENDED, "cycle": ["0"]}), "cycle in ended in what is told of the run is '0', not a whole number"),
    (tell(schedule={"decisions": "z:0", "fails": True, "rank": 9}), "the choice that is told to decide is not in the trace"),
    (tell(schedule={"decisions": "z:0", "fails": 1}), "fails in schedule in what is told of the run is '1', not true"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_every_number_and_name_is_checked(change: Change, words: str, saved: Path, tmp_path: Path) -> None:
    """With the place and the value."""
    with pytest.raises(TraceError, match=re.escape(words)):
        load(changed(saved, tmp_path / "t.json", change))


ROWS = packed(np.ones(9, COMPUTES.dtype))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({**ROWS, "rows": 8}, "8 rows take 192 bytes, and there are more"),
        ({**ROWS, "rows": 10}, "10 rows take 240 bytes, and there are fewer"),
        ({**ROWS, "rows": 10**12}, "1,000,000,000,000 rows are more than 40 letters can hold"),
        ({**ROWS, "rows": -1}, "it should have a number of rows, and a text"),
        ({**ROWS, "rows": True}, "it should have a number of rows, and a text"),
        ({**ROWS, "packed": 5}, "it should have a number of rows, and a text"),
        ({**ROWS, "packed": ROWS["packed"][:-4]}, "9 rows take 216 bytes, and there are fewer"),
        ({**ROWS, "packed": "Ä" * 40}, "the text is not what was packed"),
        ({**ROWS, "packed": "!" * 40}, "the text is not what was packed"),
        ({**ROWS, "packed": "AAAA" * 10}, "the text is not what was packed"),
    ],
)
def test_packed_rows_are_as_large_as_they_say(told: dict[str, Any], words: str, saved: Path, tmp_path: Path) -> None:
    """Or refused, before much is unpacked; and then they are checked like all others."""
    content = json.loads((saved / "t.json").read_text())
    content["otherData"]["fakempi"]["computes"] = told
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(TraceError, match=r"t\.json: the trace is damaged: computes: " + re.escape(words)):
        load(tmp_path / "t.json")


def test_packed_rows_are_checked_like_all_others(saved: Path, tmp_path: Path) -> None:
    """A rank that is not there."""
    content = json.loads((saved / "t.json").read_text())
    head = content["otherData"]["fakempi"]
    rows = unpacked(head["computes"], COMPUTES)
    rows["rank"] = 7
    head["computes"] = packed(rows)
    (tmp_path / "t.json").write_text(json.dumps(content))
    with pytest.raises(TraceError, match=r"damaged: rank 7 of computes is not from 0 to below 2\.$"):
        load(tmp_path / "t.json")


def test_pickles_are_not_read(tmp_path: Path) -> None:
    """An array of objects would run what it says."""

    class Evil:
        def __reduce__(self) -> Any:
            return pytest.fail, ("it ran",)

    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    raw.write(pickle.dumps([Evil()]))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
        file.writestr("head.npy", raw.getvalue())
    with pytest.raises(TraceError, match=r"t\.npz: this is not a trace: Object arrays cannot be loaded"):
        load(tmp_path / "t.npz")


def test_a_small_file_that_would_be_enormous_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is unpacked."""
    monkeypatch.setattr("fakempi.trace.files.LARGE", 2**20)
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("head.npy", "w") as member:
        for _ in range(3):
            member.write(bytes(2**20))
    with pytest.raises(TraceError, match=r"t\.npz: this is not a trace: its \d,\d{3} bytes would be 3,145,728\.$"):
        load(tmp_path / "t.npz")


def test_a_shape_that_is_not_there_is_refused(saved: Path, tmp_path: Path) -> None:
    """As large as it says, or of more dimensions."""
    for shape in ((10**15,), (2, 2)):
        raw = io.BytesIO()
        header = {"descr": np.lib.format.dtype_to_descr(TRANSFERS.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(raw, header)
        raw.write(bytes(4 * TRANSFERS.size))
        with zipfile.ZipFile(saved / "t.npz") as whole, zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
            for name in whole.namelist():
                file.writestr(name, raw.getvalue() if name == "transfers.npy" else whole.read(name))
        with pytest.raises(TraceError, match=r"t\.npz: (this is not a trace|the trace is damaged)"):
            load(tmp_path / "t.npz")


@pytest.mark.parametrize("text", ["[" * 99_999, '{"otherData": [1]}', "9" * 5000, "[]", "null", "\ufeff{}", '"' + "x" * 999])
def test_what_is_no_trace_is_told_in_a_sentence(text: str, tmp_path: Path) -> None:
    """Nested too deep, numbers too long, other things."""
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    with pytest.raises(TraceError, match=r"^[^\n]{1,400}\.$"):
        load(tmp_path / "t.json")


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_damaged_file_is_read_or_refused(data: st.DataObject, saved: Path, tmp_path: Path) -> None:
    """Whatever bytes are missing or others: no other exception."""
    name = data.draw(st.sampled_from(["t.json", "t.npz"]))
    content = bytearray((saved / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(len(content) // 2, len(content)) | st.just(len(content))) :]
    (tmp_path / name).write_bytes(content)
    with suppress(TraceError):
        assert load(tmp_path / name).ranks


def test_control_characters_are_written_out(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of regions, calls and files, in all pictures and in complaints."""

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


def test_what_a_program_says_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """In our reports of how it failed: its exceptions, and where it waits."""
    for script in (
        f"raise ValueError({ESCAPE!r})",
        f"exec(compile('from mpi4py import MPI; MPI.COMM_WORLD.recv()', {ESCAPE!r}, 'exec'))",
    ):  # fmt: skip
        assert main(["run", "-n", "1", "-c", script]) == 1
        said = capsys.readouterr().err
        assert "\x1b" not in said
        assert "\x07" not in said


def test_regions_of_a_run_have_names_that_can_be_printed() -> None:
    """Of its trace, whatever the program calls them; letters of all languages stay."""

    def main(comm: Any) -> None:
        with fakempi.region(f"{ESCAPE}Größe 大"):
            fakempi.compute(1)

    trace = fakempi.run(main, 1, trace=True).trace
    assert trace is not None
    assert trace.regions[0].name == r"\x1b]0;owned\x07\x1b[31mGröße 大"
    assert printable("a\tb\nc\x1b") == r"a\tb\nc\x1b"
    assert printable("a\tb\nc\x1b", keep="\n") == "a\\tb\nc\\x1b"


def test_many_clocks_are_quick_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ranks do not do takes no time: three million took minutes."""
    transfers, computes, regions = (np.zeros(0, table.dtype) for table in (TRANSFERS, COMPUTES, REGIONS))
    write(Columns([0.5] * 50_000, [("a", "b", 1)], ["x"], transfers, computes, regions), tmp_path / "t.npz")
    assert main(["view", str(tmp_path / "t.npz"), "--what", "summary,timeline,waits"]) == 0
    assert "25,000 s  100%" in capsys.readouterr().out


def test_totals_of_quiet_ranks_are_what_their_waits_are() -> None:
    """Though they are not looked at one by one."""

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
