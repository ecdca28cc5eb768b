"""Every public name of fakempi in the process of a rank: it works, or one sentence says why not."""

from __future__ import annotations

from pathlib import Path

import fakempi
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram
from tests.processes.harness import HEAD, both, observe

NAMES = """
import fakempi
from fakempi import *
for name in dir(fakempi):
    assert getattr(fakempi, name) is not None
for name in MPI.__all__:
    getattr(MPI, name), getattr(fakempi.MPI, name)
for function in (fakempi.run, fakempi.explore, fakempi.compare.sweep, fakempi.compare.compare):
    try:
        function(len, 2)
    except MPI.Exception as error:
        print(error)
try:
    import fakempi.core.world
except ImportError as error:
    print(error)
"""

REGIONS = """
import fakempi
with fakempi.region("exchange"):
    comm.Barrier()
    with fakempi.region("inner"):
        fakempi.compute(2)
@fakempi.region("of a function")
def work():
    fakempi.compute(1)
work()
try:
    with fakempi.region("failed"):
        raise KeyError
except KeyError:
    pass
"""

PHANTOMS = """
import fakempi
p, q = fakempi.phantom(80000, 8), fakempi.phantom(80000, 8)
comm.Bcast(p)
comm.Allreduce(p, q)
comm.Sendrecv(p[:100], 1 - rank, recvbuf=q[:100], source=1 - rank)
request = comm.Isend([p, 10, MPI.BYTE], 1 - rank)
comm.Recv(q, 1 - rank)
request.Wait()
print(comm.bcast(p), q, MPI.Wtime())
"""


def test_every_public_name_works_or_says_why_not(tmp_path: Path) -> None:
    """`dir(fakempi)`, `MPI.__all__`, `from fakempi import *`, and a module that is part of the emulator."""
    path = tmp_path / "work.py"
    path.write_text(HEAD + NAMES, encoding="utf-8")
    found = observe([str(path)], 1, True)
    assert (found.error, found.err) == ("", "")
    lines = found.out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == [
        "fakempi.run", "fakempi.explore", "fakempi.compare.sweep", "fakempi.compare.compare", "this"
    ]
    assert {line.partition(" does not work in the process of a rank ")[2] for line in lines} == {
        "(--processes, mpi(processes=True)), because the emulator is in another process. "
        "Call it in a separate program, or on ranks of one process."
    }


def test_regions_and_phantoms_are_those_of_one_process(tmp_path: Path) -> None:
    """Regions of the trace with their times, nested, of functions and with exceptions; messages without contents."""
    one, other = both(tmp_path, PHANTOMS, 2)
    assert one == other
    assert one.error == ""
    path = tmp_path / "regions.py"
    path.write_text(HEAD + REGIONS, encoding="utf-8")
    traces = [fakempi.run(kind([str(path)]), 2, trace=True).trace for kind in (Program, ProcessProgram)]
    found = [[(each.name, each.rank, each.start, each.end) for each in trace.regions] for trace in traces if trace]
    assert found[0] == found[1]
    assert {name for name, *_ in found[0]} >= {"exchange", "inner", "of a function", "failed"}
