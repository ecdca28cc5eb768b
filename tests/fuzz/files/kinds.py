"""The kinds of files that people exchange: valid examples, and the commands that read them.

The product's own writers make the examples where it has a writer.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import fakempi
from collectives import find
from collectives.schedules import Schedule, record
from collectives.trials.cases import make_case
from fakempi import MPI
from fakempi.apps.compare.rows import rows, to_csv
from fakempi.apps.compare.sweep import contenders, sweep
from fakempi.core.network.models.multi_level import ErrorRange, Level, MultiLevel, PiecewiseLinear
from fakempi.machines.csv_files import write_samples
from fakempi.machines.samples import Sample
from fakempi.machines.writing import machine_text
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS
from fakempi.trace.packing import packed_texts, unpacked_texts
from fakempi.trace.record import Trace
from tests.fuzz.files import archives
from tests.fuzz.files.mutation import change_json, mutant
from tests.recordings.allprof_traces import AllprofRank
from tests.recordings.dumpi_traces import DumpiRank

VIEWS = "summary,timeline,matrix,waits,critical,blocks,findings"


class Kind(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    name : the kind, as the command's options call it
    file : the name of the file that is written
    commands : the arguments of commands that read it; {} is the file
    small : returns valid files
    large : returns a valid file of about 1 MB
    rewrite : changes the structure of a binary format
    """

    name: str
    file: str
    commands: Sequence[Sequence[str]]
    small: Callable[[], list[bytes]]
    large: Callable[[], bytes]
    rewrite: Callable[[bytes, Random], bytes] | None = None


# -- traces ----------------------------------------------------------------------------------------------------------------


def _program(comm: Any, rounds: int) -> None:
    with fakempi.region("phase"):
        fakempi.compute(1e-6)
        comm.Allreduce(MPI.IN_PLACE, np.ones(4))
    for tag in range(rounds):
        comm.sendrecv("x", (comm.rank + 1) % comm.size, tag, source=(comm.rank - 1) % comm.size)
    if comm.rank == 0:
        comm.isend("lost", 1, 99)


def _deadlock(comm: Any) -> None:
    comm.Bcast(np.zeros(4), 0)
    comm.recv(source=(comm.rank + 1) % comm.size)


def _traces(rounds: int = 2) -> list[Trace]:
    found: list[Trace] = []
    for cost in ("hockney", "two_level:ranks_per_node=2"):
        trace = fakempi.run(_program, 4, rounds, trace=True, cost=cost, fused="never").trace
        assert trace is not None
        found.append(trace)
    try:
        fakempi.run(_deadlock, 3, trace=True)
    except fakempi.DeadlockError as error:
        found += [error.trace] if isinstance(error.trace, Trace) else []
    return found


def _saved(suffix: str, traces: list[Trace]) -> list[bytes]:
    path = Path(f"saved{suffix}")
    found = []
    for trace in traces:
        trace.save(path)
        found.append(path.read_bytes())
    path.unlink()
    return found


def _program_of_calls(comm: Any, rounds: int) -> None:
    """Calls with lines of most kinds."""
    half = comm.Split(comm.rank % 2, -comm.rank)
    right, left, counts = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size, [comm.rank + 1 for _ in range(comm.size)]
    for tag in range(rounds):
        fakempi.compute(1e-6)
        requests = [comm.Irecv(np.zeros(9), MPI.ANY_SOURCE, tag), comm.Isend(np.zeros(9), right, tag)]
        half.Allreduce(np.zeros(4), np.ones(4))
        MPI.Request.Waitall(requests)
        comm.Sendrecv(np.zeros(9), right, 5, np.zeros(9), left, 5)
        comm.Alltoallv([np.zeros(sum(counts)), counts], [np.zeros(10), [1, 2, 3, 4]])
    MPI.Win.Allocate(8, comm=comm).Free()


def _traces_with_calls(rounds: int = 1) -> list[Trace]:
    """Return a trace that `fakempi replay` can execute; times are not measured, so that mutants are always the same."""
    trace = fakempi.run(_program_of_calls, 4, rounds, trace=True, cpu_scale=1e-30).trace
    assert trace is not None
    return [trace]


def _mutant_of_calls(data: bytes, random: Random) -> bytes:
    """Change the lines of a rank, or the table that contains the compressed lines of all ranks."""
    with suppress(ValueError, TypeError, LookupError):
        content = json.loads(data)
        head = content["otherData"]["fakempi"]
        if random.random() < 0.1:
            head["recording"] = change_json(head["recording"], random)
        else:
            texts = unpacked_texts(head["recording"], len(head["clocks"]))
            texts[random.randrange(len(texts))] = mutant(texts, random)
            head["recording"] = packed_texts(texts)
        return json.dumps(content).encode("utf-8", "surrogatepass")
    return data


def _trace_texts() -> list[bytes]:
    """Return traces in the present format, without the events for Perfetto, and in the first format, with lists."""
    found = []
    for data in _saved(".json", _traces()):
        content = json.loads(data)
        content["traceEvents"] = content["traceEvents"][:1]
        found.append(json.dumps(content).encode())
    content["otherData"]["fakempi"] = _first_format(_traces()[0], content["otherData"]["fakempi"])
    return [*found, json.dumps(content).encode()]


def _first_format(trace: Trace, head: dict[str, Any]) -> dict[str, Any]:
    tables = {"transfers": (TRANSFERS, trace.transfer_rows), "computes": (COMPUTES, trace.compute_rows),
              "regions": (REGIONS, trace.region_rows)}  # fmt: skip
    lists = {
        name: {
            column: [value if np.isfinite(value) else None for value in values[column].tolist()]
            for column in table.names
            if column != "protocol"
        }
        for name, (table, values) in tables.items()
    }
    calls = [list(call) for call in trace.calls]
    return {**head, "format": 1, "clocks": trace.clocks, "calls": calls, "names": trace.names, **lists}


def _large_trace(suffix: str) -> bytes:
    """Return a trace of about 1 MB: JSON has 300 bytes per message, for Perfetto, and .npz less than ten."""
    return _saved(suffix, _traces(700 if suffix == ".json" else 40_000)[:1])[0]


# -- schedules -------------------------------------------------------------------------------------------------------------


def _recorded(operation: str, name: str, p: int, nbytes: int) -> Schedule:
    return record(find(operation, name), make_case(operation, p, 0, nbytes))


def _written(schedule: Schedule, suffix: str) -> bytes:
    path = Path(f"saved{suffix}")
    schedule.save(path)
    data = path.read_bytes()
    path.unlink()
    return data


SMALL = (
    ("allreduce", "ring"),
    ("bcast", "binomial"),
    ("allgather", "ring"),
    ("alltoall", "pairwise"),
    ("barrier", "dissemination"),
)


FOREIGN = {
    ".goal": """num_ranks 2 /* both
ranks */ rank 0 { l1: send 8b to 1 cpu 1 nic 0 // no tag
l2: calc 5 cpu 2 requires l1 irequires l3 l3: recv 8 b from 1 tag 2 cpu 1 }
rank 1 { recv 8b from 0 l2 requires l1 l1: calc 7 l2: send 8b to 0 tag 2 nic 1 }
""",
    ".xml": """<algo name="x" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1">
"""
    + "".join(
        f"""<gpu id="{rank}" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="{1 - rank}" recv="{1 - rank}" chan="0">
<step s="0" type="s" srcbuf="o" srcoff="{rank}" dstbuf="o" dstoff="{rank}" cnt="1" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="o" srcoff="{1 - rank}" dstbuf="o" dstoff="{1 - rank}" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu>
"""
        for rank in range(2)
    )
    + "</algo>\n",
}
"""Schedules as other tools write them."""


def _schedules(suffix: str) -> Callable[[], list[bytes]]:
    def make() -> list[bytes]:
        chosen = [("allreduce", "ring"), ("allgather", "ring")] if suffix == ".xml" else SMALL
        found = [_written(_recorded(operation, name, p, 24), suffix) for operation, name in chosen for p in (2, 3)]
        if suffix in FOREIGN:
            found.append(FOREIGN[suffix].encode())
        return found + ([_written(_recorded(*chosen[0], 3, 24), suffix)] if suffix != ".json" else [])

    return make


def _large_schedule(suffix: str) -> Callable[[], bytes]:
    """Return a ring of about 1 MB."""
    p = {".xml": 38, ".json": 49, ".goal": 39}[suffix]
    return lambda: _written(_recorded("allreduce", "ring", p, 1024 * p), suffix)


def _contract(ranks: int, entries: int = 1) -> bytes:
    operands = [[rank, 0] for rank in range(ranks)]
    outputs = [[{"offset": 0, "bytes": 24, "operands": operands}] * entries for _ in range(ranks)]
    return json.dumps({"format": "fakempi contract", "version": 1, "outputs": outputs}).encode()


# -- machines and measurements ---------------------------------------------------------------------------------------------


def _machine(pieces: int = 2) -> bytes:
    time = PiecewiseLinear([(8192 * number, 5e-7 * (number + 1), 2e-10) for number in range(pieces)])
    levels = {
        "socket": Level(time, errors=(ErrorRange(0, 100, 0.1, 0.2),)),
        "node": Level(time, gap=time),
        "network": Level(time, overhead=time, ports=2, port_t_w=1e-10, port_gap=1e-8),
    }
    options: dict[str, Any] = {
        "ranks_per_node": 4,
        "ranks_per_socket": 2,
        "provenance": [("source", "osu_latency"), ("a b", "x")],
    }
    return machine_text(MultiLevel(levels, **options)).encode()


def _samples(count: int = 6) -> bytes:
    out = StringIO()
    sizes = [0, *(2**power for power in range(count if count < 20 else 20))]
    samples = [Sample(level, "time", size, 1e-6 + 1e-9 * size) for level in ("node", "network") for size in sizes]
    samples += [
        Sample("network", "concurrent", 8, 3.3e-7, 4),
        Sample("network", "eager", 64, 1.0),
        Sample("network", "gap", 64, 1e-7),
    ]
    write_samples(out, samples * max(1, count // 20))
    return out.getvalue().encode()


def _pairs(count: int = 4) -> bytes:
    lines = [
        f"{a},{b},{size},{1e-6 + 1e-9 * size!r}" for a in range(count) for b in range(a) for size in (0, 8, 64, 1024, 8192)
    ]
    return ("a,b,bytes,seconds\n" + "\n".join(lines) + "\n").encode()


def _cores(count: int = 4) -> bytes:
    lines = [f"{core},node{core // 4},{core // 2},{core // 2}" for core in range(count)]
    return ("core,node,socket,cache\n" + "\n".join(lines) + "\n").encode()


def _osu(rows: int = 8) -> bytes:
    lines = "\n".join(f"{2 ** (number % 20):<12}{1.1 + 0.01 * number:>18.2f}" for number in range(rows))
    return f"# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size          Latency (us)\n{lines}\n".encode()


def _imb(rows: int = 8) -> bytes:
    lines = "\n".join(f"{2 ** (number % 20):>13}         1000 {1.5 + number:>12.2f}         0.00" for number in range(rows))
    title = "#---\n# Benchmarking PingPong\n# #processes = 2\n#---\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    return f"{title}{lines}\n".encode()


def _osu_bcast(rows: int = 8) -> bytes:
    lines = "\n".join(f"{2 ** (number % 20):<12}{1.88 + 0.01 * number:>18.2f}" for number in range(rows))
    return f"# OSU MPI Broadcast Latency Test v5.9\n# Size       Avg Latency(us)\n{lines}\n".encode()


def _measurements() -> list[bytes]:
    """Return measurements of broadcasts in the three formats that are read."""
    swept = sweep("bcast", [4, 8], [8, 1024], cost="hockney:eager_limit=0", among=contenders("bcast")[:4])
    out = StringIO()
    lines = csv.writer(out)
    lines.writerow(["operation", "algorithm", "ranks", "bytes", "seconds", "placement"])
    for name in ("binomial", "linear", "chain(segment_bytes=1k)", "default"):
        lines.writerows(["bcast", name, p, 1024, p * 1e-6, 2] for p in (4, 8))
    return [to_csv(rows(swept)).encode(), out.getvalue().encode()]


def _many_measurements() -> bytes:
    lines = [f"bcast,binomial,4,{8 * number},{1e-6 * (number + 1)!r}" for number in range(28_000)]
    return ("operation,algorithm,ranks,bytes,seconds\n" + "\n".join(lines) + "\n").encode()


PROJECT = b"""\
[project]
name = "x"
[[tool.fakempi.ignore]]
kind = "message-lost"
file = "pool/*.py"
function = "Pool.close"
reason = "workers end without it"
[[tool.fakempi.ignore]]
kind = "file-leak"
"""
NOTES = b'{"more": [], "passed": {"01_hello": "aa"}, "hints": {"01_hello": 1}}'
PROGRAM = b"""\
from mpi4py import MPI
comm = MPI.COMM_WORLD
comm.isend(1, 0)  # fakempi: ignore[message-lost] it is a test
comm.Barrier()  # fakempi: ignore[send-buffer-overwritten, file-leak]
"""



def _one(make: Callable[[], bytes]) -> list[bytes]:
    return [make()]


def _recorded_calls(rounds: int = 2) -> bytes:
    """Return the file of one rank of `python -m fakempi.record`."""
    lines = ['fakempi recording 1', '{"rank": 0, "ranks": 1, "run": "a"}', "site 1 work.py:12", "comm 2 0 0 0"]
    for number in range(rounds):
        lines += [f"send 8100 950 1 S 0 0 5 80 {2 * number}", f"recv 120 95000 1 0 * * 80 {2 * number + 1}"]
        lines += [f"wait 50 1200 1 {2 * number} {2 * number + 1}:0:5", "coll 5 4000 1 allgatherv 2 0 8 8 c 16 -"]
    return "\n".join([*lines, "other 1 2 1 Win.Fence", "end 1000 completed", ""]).encode()


def _allprof_calls(rounds: int = 2) -> bytes:
    rank = AllprofRank(0, 1)
    text = rank.text
    for _ in range(rounds):
        rank.text = ""
        rank.call("Isend", 1, 10, "10,8,8", 0, 5, rank.world, 8000)
        rank.call("Irecv", 1, 20, "10,8,8", -2, -1, rank.world, 8008)
        rank.call("Waitall", 2, 8000, 9000, after=100)
        rank.call("Allgatherv", 1, 3, "10,8,8", 2, 300, "3", 400, "0", "10,8,8", rank.world)
        text += rank.text
    rank.text = text
    return rank.end().encode()


def _dumpi_calls(rounds: int = 2) -> bytes:
    rank = DumpiRank()
    parts = [rank.data]
    for _ in range(rounds):
        rank.data, rank.time = b"", 1.0
        rank.call("Isend", "ihiihi", 10, 14, 0, 5, 2, 2)
        rank.call("Irecv", "ihiihi", 20, 14, -1, -1, 2, 3)
        rank.call("Waitall", "iAS", 2, [2, 3], [(0, -1, -1), (80, 0, 5)])
        rank.call("Allgatherv", "iihAAhh", 1, 3, 14, [3], [0], 14, 2)
        parts.append(rank.data)
    rank.data = b"".join(parts)
    return rank.end()


CALIBRATE = ("calibrate", "--quiet", "-o", "out.toml")
MEASURED = ("compare", "bcast", "-n", "4", "--bytes", "8", "--no-plot", "--jobs", "1")

KINDS = (
    Kind("trace .json", "t.json", [
        ("view", "{}", "--no-pager", "--what", VIEWS, "--width", "90"), ("view", "{}", "--no-pager"),
        ("view", "{}", "--html", "t.html"), ("view", "{}", "--svg", "t.svg"), ("view", "{}", "{}", "--no-pager"),
        ("view", "{}", "--what", "replay", "--no-pager"),
    ], _trace_texts, lambda: _large_trace(".json")),
    Kind("calls in a trace .json", "t.json", [("replay", "{}")], lambda: _saved(".json", _traces_with_calls()),
         lambda: _saved(".json", _traces_with_calls(300))[0], _mutant_of_calls),
    Kind("calls in a trace .npz", "t.npz", [("replay", "{}")], lambda: _saved(".npz", _traces_with_calls()),
         lambda: _saved(".npz", _traces_with_calls(300))[0], archives.rewrite),
    Kind("trace .npz", "t.npz", [
        ("view", "{}", "--no-pager", "--what", VIEWS, "--width", "90"), ("view", "{}", "--html", "t.html"),
    ], lambda: _saved(".npz", _traces()), lambda: _large_trace(".npz"), archives.rewrite),
    *(Kind(f"schedule {suffix}", f"s{suffix}", [
        ("schedule", "verify", "{}"), ("schedule", "show", "{}"), ("schedule", "run", "{}"),
        ("schedule", "export", "{}", "-o", "out.json"), ("schedule", "export", "{}", "-o", "out.goal"),
        ("schedule", "export", "{}", "-o", "out.xml"), ("schedule", "verify", "{}", "--operation", "allreduce"),
    ], _schedules(suffix), _large_schedule(suffix)) for suffix in (".json", ".goal", ".xml")),
    Kind("contract .json", "contract.json", [("schedule", "verify", "allreduce.xml", "--operation", "{}")],
         lambda: [_contract(3)], lambda: _contract(3, 4000)),
    Kind("machine file .toml", "m.toml", [
        ("compare", "bcast", "-n", "4", "--bytes", "8", "--no-plot", "--algorithms", "binomial,chain", "--cost", "{}"),
        ("schedule", "run", "allreduce.xml", "--cost", "{}:ranks_per_node=2"),
    ], lambda: [_machine()], lambda: _machine(6000)),
    Kind("samples .csv", "samples.csv", [(*CALIBRATE, "--from", "{}"), (*CALIBRATE, "--from", "{}", "--plot")],
         lambda: [_samples()], lambda: _samples(15_000)),
    Kind("pairs .csv", "pairs.csv", [
        (*CALIBRATE, "--from", "{}", "--placement", "cores_of_pairs.csv"), (*CALIBRATE, "--from", "node:{}"),
    ], lambda: [_pairs()], lambda: _pairs(120)),
    Kind("placement .csv", "cores.csv", [(*CALIBRATE, "--from", "pairs_of_cores.csv", "--placement", "{}")],
         lambda: [_cores()], lambda: _cores(60_000)),
    Kind("output of a benchmark", "latency.txt", [(*CALIBRATE, "--from", "node:{}"), (*CALIBRATE, "--from", "{}")],
         lambda: [_osu(), _imb()], lambda: _osu(30_000)),
    Kind("measurements .csv", "times.csv", [
        (*MEASURED, "--beside", "{}"), ("broadcasts", "{}"), (*MEASURED, "--default", "--beside", "{}"),
    ], _measurements, _many_measurements),
    Kind("measurements .txt", "bcast.txt", [(*MEASURED, "--beside", "{}:ranks=4")],
         lambda: [_osu_bcast()], lambda: _osu_bcast(30_000)),
    Kind("block sizes", "counts.txt", [("counts", "{}")],
         lambda: [b"5\n0 # none\n3\n", b"5, 0, 3\n", b"[5, 0, 3]"], lambda: b"[" + b"8, " * 300_000 + b"8]"),
    Kind("pyproject.toml", "pyproject.toml", [("suppressions", "{}")], lambda: [PROJECT],
         lambda: PROJECT * 1 + b'[[tool.fakempi.ignore]]\nkind = "file-leak"\nfile = "a/*.py"\n' * 16_000),
    Kind("comments of a program", "work.py", [("comments", "{}")], lambda: [PROGRAM], lambda: PROGRAM * 5000),
    *(Kind(f"recording of {name}", file, [("replay", "{}")], partial(_one, make), partial(make, rounds))
      for name, file, make, rounds in (
        ("fakempi.record", "rank-0.txt", _recorded_calls, 8000),
        ("liballprof", "pmpi-trace-rank-0.txt", _allprof_calls, 4000),
        ("DUMPI", "dumpi-0000.bin", _dumpi_calls, 3000),
    )),
    Kind("progress of a course", "mpi_course/.fakempi-learn.json", [("learn", "--list"), ("learn", "--hint", "1")],
         lambda: [NOTES], lambda: json.dumps({"passed": {str(number): "a" * 64 for number in range(13_000)}}).encode()),
)  # fmt: skip
"""Every kind of file that fakempi reads and that is not a program."""

TEXTS = {
    "algorithm names": ["ring", "chain(segment_bytes=1k)", "gather_bcast(bcast=chain,gather=binomial)", "mpich,bcast=chain",
                        "inter:allgather=full_duplex(allgatherv=blocked_ring(block_bytes=sqrt))"],
    "cost models": ["hockney:t_s=1e-6,t_w=0,eager_limit=4k", "two_level:ranks_per_node=4,inter.t_s=5e-6", "torus:shape=4x4",
                    "loggp:L=1e-6,o=1e-6,g=1e-6,G=1e-9", "m.toml:ranks_per_node=4"],
    "schedule tokens": ["z:0.0.2.1", "s64bd:1.0x12.3", "i:0.1?", "z:0x1000.1"],
    "sizes and ranks": ["1k..8k", "0,1,64k", "6+2", "0-3,8"],
}  # fmt: skip


def support_files() -> dict[str, bytes]:
    """Return the valid files that commands need in addition to the mutant."""
    return {
        "allreduce.xml": _written(_recorded("allreduce", "ring", 3, 24), ".xml"),
        "cores_of_pairs.csv": _cores(), "pairs_of_cores.csv": _pairs(), "samples_of.csv": _samples(12), "m.toml": _machine(),
        "evil.py": b"open('pwned', 'w').close()\nclass Evil: pass\nALGORITHM = Evil()\n",
    }  # fmt: skip
