"""Measurements from files: CSV with a placement, OSU and Intel MPI benchmarks, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.cli import main
from fakempi.core.network.models.machine_file import load_machine
from fakempi.core.network.models.multi_level import MultiLevel
from fakempi.machines.benchmark_texts import is_benchmark_text, read_tables, samples_of
from fakempi.machines.csv_files import read_placement, read_samples, write_samples
from fakempi.machines.samples import Sample
from tests.cli.test_running import Capture

CORES = "core,node,socket\n0,n1,0\n1,n1,0\n2,n1,1\n3,n2,0\n"
PAIRS = "a,b,bytes,seconds\n" + "".join(
    f"0,{other},{size},{seconds + size * 1e-10!r}\n"
    for other, seconds in ((1, 2e-7), (2, 4e-7), (3, 2e-6))
    for size in (1, 8, 64, 512, 4096, 32768)
)
LATENCY = """\
# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.10
2                       1.20
4                       1.40
8                       1.80
"""
BANDWIDTH = """\
# OSU MPI Bandwidth Test v5.6.3
# Size      Bandwidth (MB/s)
1                       2.00
1000                 1000.00
2000                 1000.00
4000                 2000.00
"""
RATE = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v5.9
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1000                 2000.00        2000000.00
"""
BCAST = """\

# OSU MPI Broadcast Latency Test v5.9
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       1.88              0.88              3.10       10000
2                       1.90              0.88              3.10       10000
"""
IMB = """\
#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
            4         1000         0.75         5.33

#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         3.00         2.00

# All processes entering MPI_Finalize
"""


def near(seconds: Any) -> Any:
    """A time, up to rounding errors; of no type that mypy could find different from a float."""
    return pytest.approx(seconds, rel=1e-4)


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"cores.csv": CORES, "pairs.csv": PAIRS, "latency.txt": LATENCY, "bw.txt": BANDWIDTH, "rate.txt": RATE}
    for name, text in {**texts, "bcast.txt": BCAST, "imb.txt": IMB}.items():
        Path(name).write_text(text)


def test_levels_are_found_by_the_places_of_cores() -> None:
    """The same socket, the same node, or different nodes; without sockets a pair on one node has the level node."""
    placement = read_placement("cores.csv")
    assert {sample.level for sample in read_samples("pairs.csv", placement)} == {"socket", "node", "network"}
    unknown = {core: (place[0], "", "") for core, place in placement.items()}
    assert [sample.level for sample in read_samples("pairs.csv", unknown)][::6] == ["node", "node", "network"]
    assert {sample.level for sample in read_samples("pairs.csv", None, "node")} == {"node"}
    one_cache = {core: (*place[:2], "0") for core, place in placement.items()}
    assert {sample.level for sample in read_samples("pairs.csv", one_cache)} == {"cache", "node", "network"}


def test_samples_that_are_written_are_read_again() -> None:
    """All kinds, with the number of pairs."""
    samples = [
        Sample("node", "time", 0, 1e-7), Sample("network", "concurrent", 8, 3.3e-7, 4), Sample("network", "eager", 64, 1.0),
        Sample("network", "eager", 128, 0.0),
    ]  # fmt: skip
    with open("samples.csv", "w") as file:
        write_samples(file, samples)
    assert [sample._replace(where="") for sample in read_samples("samples.csv")] == samples


def test_osu_output_is_converted_to_seconds() -> None:
    """Latencies, and bandwidths as the time per message; of several pairs, the time of each."""
    assert [s[:5] for s in samples_of(read_tables("latency.txt"), "node")][:2] == [
        ("node", "time", 1, near(1.1e-6), 1), ("node", "time", 2, near(1.2e-6), 1),
    ]  # fmt: skip
    assert [s[1:4] for s in samples_of(read_tables("bw.txt"), "network")][1] == ("gap", 1000, near(1e-6))
    assert [s[1:5] for s in samples_of(read_tables("rate.txt"), "network")] == [("concurrent", 1000, near(2e-6), 4)]
    (table,) = read_tables("bcast.txt")
    assert table.name == "bcast"
    assert [row[:2] for row in table.rows] == [(1, near(1.88e-6)), (2, near(1.9e-6))]


def test_imb_output_has_several_tables() -> None:
    """One way times of PingPong, averages of collective operations, and the number of processes."""
    ping_pong, bcast = read_tables("imb.txt")
    assert (ping_pong.name, ping_pong.processes) == ("latency", 2)
    assert [row[:2] for row in ping_pong.rows] == [(0, near(5e-7)), (4, near(7.5e-7))]
    assert (bcast.name, bcast.processes, bcast.rows[0][:2]) == ("bcast", 4, (8, near(2e-6)))
    assert [is_benchmark_text(name) for name in ("imb.txt", "latency.txt", "pairs.csv")] == [True, True, False]


def test_the_command_writes_a_machine_file(capsys: Capture) -> None:
    """With three levels, whose held-out errors are printed."""
    words = ["--from", "pairs.csv", "--placement", "cores.csv", "--ranks-per-node", "4", "--ranks-per-socket", "2"]
    assert main(["calibrate", *words, "-o", "m.toml"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[:5] for line in out.splitlines()[1:4]] == [
        ["socket", "6", "6", "1", "0.0%"], ["node", "6", "6", "1", "0.0%"], ["network", "6", "6", "1", "0.0%"],
    ]  # fmt: skip
    model = load_machine("m.toml")
    assert [model.transfer(0, rank, 1000)[2] for rank in (1, 2, 4)] == near([3e-7, 5e-7, 2.1e-6])
    assert main(["calibrate", *words, "--plot"]) == 0
    out, err = capsys.readouterr()
    assert out == Path("m.toml").read_text()
    assert [f"\nlevel {name}\n" in err for name in model.levels] == [True, True, True]


def test_the_gap_is_taken_from_bandwidths(capsys: Capture) -> None:
    """Sources are combined by level; without a level they are of the network."""
    assert main(["calibrate", "--from", "latency.txt", "--from", "bw.txt", "-o", "m.toml"]) == 0
    assert "overheads: network: gap measured" in capsys.readouterr()[0]
    model = load_machine("m.toml")
    assert isinstance(model, MultiLevel)
    assert list(model.levels) == ["network"]
    assert model.levels["network"].gap is not None


@pytest.mark.parametrize(
    ("changes", "words", "error"),
    [
        ({}, ["--from", "none.csv"], "none.csv cannot be read: No such file or directory."),
        ({"p.csv": "a,b,size,us\n"}, ["--from", "p.csv"], "p.csv has the columns a, b, size, us, and not "),
        ({"p.csv": ""}, ["--from", "p.csv"], "p.csv is empty, and not the columns a, b, bytes, seconds."),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8,-1e-6\n"}, [], "p.csv line 2: seconds is -1e-6, which is negative: remove "),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8,0\n"}, [], "p.csv line 2: seconds is 0, which is zero: remove the row or "),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8,nan\n"}, [], "p.csv line 2: seconds is nan, which is not finite: remove "),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8,1us\n"}, [], "p.csv line 2: '1us' is not a number (seconds)."),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8k,1\n"}, [], "p.csv line 2: '8k' is not a number of bytes."),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8\n"}, [], "p.csv line 2: the row does not have 4 values."),
        ({"p.csv": "a,b,bytes,seconds\n0,9,8,1e-6\n"}, [], "p.csv line 2: core 9 is not in the file of --placement."),
        ({"p.csv": "a,b,bytes,seconds\n1,1,8,1e-6\n"}, [], "p.csv line 2: core 1 exchanges messages with itself: two "),
        ({"p.csv": "a,b,bytes,seconds\n0,1,8,1e-6\n"}, [], "p.csv line 2: level socket has 1 size (8 bytes), and a fit "),
        ({}, ["--from", "pairs.csv"], "pairs.csv line 2: the placement of cores 0 and 1 is unknown: add --placement "),
        ({"cores.csv": "core,node\n0,a\n0,b\n"}, ["--from", "pairs.csv", "--placement", "cores.csv"], "cores.csv line"),
        ({"cores.csv": "core\n0\n"}, ["--from", "pairs.csv", "--placement", "cores.csv"], "cores.csv has the columns "),
        ({"p.csv": "level,bytes,seconds\nrack,8,1\n"}, ["--from", "p.csv"], "p.csv line 2: level 'rack' is "),
        ({"latency.txt": LATENCY.replace("(us)", "(min)")}, ["--from", "latency.txt"], "latency.txt line 3: the unit 'min'"),
        ({"latency.txt": LATENCY.replace("(us)", "")}, ["--from", "latency.txt"], "latency.txt line 4: there is no "),
        ({"latency.txt": LATENCY.replace("1.40", "0.00")}, ["--from", "latency.txt"], "latency.txt line 6: latency is "),
        ({"latency.txt": "# OSU MPI Latency Test v7.3\n"}, ["--from", "latency.txt"], "latency.txt has no rows of "),
        ({"latency.txt": "# OSU MPI  Test v7.3\n1 1.1\n"}, ["--from", "latency.txt"], "latency.txt has no rows of "),
        ({"p.csv": "\x00\udcff"}, [], "p.csv is not a text in UTF-8."),
        ({"cores.csv": "\udcff"}, ["--from", "pairs.csv", "--placement", "cores.csv"], "cores.csv is not a text in UTF-8."),
        ({"latency.txt": LATENCY + LATENCY.replace("(us)", "(ms)")}, ["--from", "latency.txt"], "latency.txt line 11: "),
        ({}, ["--from", "bcast.txt"], "bcast.txt has results of bcast, and no ping-pongs or streams."),
        ({}, ["--from", "pairs.csv", "-o", "nowhere/m.toml"], "nowhere/m.toml cannot be written: there is no directory"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_2(
    changes: dict[str, str], words: list[str], error: str, capsys: Capture
) -> None:
    """The file, the line, the values, and the remedy."""
    for name, text in changes.items():
        Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert main(["calibrate", *(words or ["--from", "p.csv", "--placement", "cores.csv"])]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith(f"fakempi calibrate: {error}")


def test_a_byte_order_mark_is_skipped(capsys: Capture) -> None:
    """Spreadsheet programs write one."""
    Path("p.csv").write_text("\ufeff" + PAIRS, encoding="utf-8")
    words = ["--from", "p.csv", "--placement", "cores.csv", "--ranks-per-node", "4", "--ranks-per-socket", "2"]
    assert main(["calibrate", *words, "-o", "m.toml"]) == 0
    assert "held-out error" in capsys.readouterr()[0]


def test_rows_in_microseconds_are_noticed(capsys: Capture) -> None:
    """A whole file, and some rows of one."""
    rows = [f"node,{size},{0.5 + size * 1e-4}" for size in (1, 8, 64, 512)]
    Path("p.csv").write_text("\n".join(["level,bytes,seconds", *rows]) + "\n")
    assert main(["calibrate", "--from", "p.csv"]) == 2
    assert "p.csv line 2: 0.5001 s for 1 B on level node is too long for a message" in capsys.readouterr()[1]
    rows = [f"node,{size},{(0.5 + size * 1e-4) * 1e-6}" for size in (1, 8, 64, 512) for _ in range(2)]
    Path("p.csv").write_text("\n".join(["level,bytes,seconds", *rows, "node,8,0.5"]) + "\n")
    assert main(["calibrate", "--from", "p.csv"]) == 2
    assert "p.csv line 10: 0.5 s for 8 B on level node, and 5.008e-07 s in p.csv line 4: the rows" in capsys.readouterr()[1]
