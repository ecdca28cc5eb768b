"""Read_all by two phases: aggregators read few large pieces, and send everybody what it asked for.

As write_all by two phases, backwards. When the aggregators know what everybody wants of their domains, each joins the runs
of all ranks in its window, reads each that is left by one call, and sends every rank its bytes, k ranks on in step k. What
nobody asked for is not read. All that is asked for must be in the file.

    p = 4, A = 2, blocks of one byte dealt out in turn: ranks want bytes 0 4, 1 5, 2 6, 3 7; domains 0-3 and 4-7
    0 and 2 read four bytes each; step 1: 0 sends byte 1 to 1, 2 sends 7 to 3; step 2: 0 sends 2 to 2, 2 sends 4 to 0;
    step 3: 0 sends 3 to 3, 2 sends 5 to 1

Rounds   2 ceil(log2 p) + (2 + R) (p-1)    Sent per rank   24 L + 8 A + 16 n, aggregators + N/A; less own
         Scratch   24; on an aggregator also 8 + 16 runs for each other rank, and nearly twice N/A
Time     2 L (t_s + 12 t_w) + r t_s + s t_w; in the letters of write_all, whose file server takes as long for this
Fits     any p, 1 <= A <= p
Best     many small runs with no holes between those of different ranks, and a file that takes long to begin
Source   as write_all by two phases: del Rosario, Bordawekar, Choudhary, 1993; Thakur, Gropp, Lusk, 1999
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.files.paper import claims
from collectives.files.two_phase import File, Plan, deal
from collectives.tools.protocol import Comm


def read_all_two_phase(
    comm: Comm, file: File, runs: Any, data: Any, *, aggregators: int = 1, buffer_bytes: int = 16 << 20, tag: int = 0
) -> None:
    """Read this rank's runs of the file, each a place and a length, to `data`, bytes."""
    ALGORITHM.check(Case(p=comm.Get_size(), parameters={"aggregators": aggregators, "buffer_bytes": buffer_bytes}))
    plan = Plan(comm, runs, aggregators, buffer_bytes, tag)
    if plan.runs.size != data.size:
        raise ValueError(f"the data have room for {data.size} bytes, but the runs have {plan.runs.size}")
    for low, mine, parts, room, window in plan.turns(data):
        plan.access(parts, window, low, file.Read_at)
        for rank, part in parts.items():
            contents = mine[rank] if rank == plan.rank else room[rank]
            for inside, at in part.places(low):
                contents[at] = window[inside]
        deal(comm, room, mine, tag)
    plan.conclude()


ALGORITHM = Algorithm(
    operation="read_all",
    name="two_phase",
    run=read_all_two_phase,
    parameters={"aggregators": 1, "buffer_bytes": 16 << 20},
    kind="files",
    **claims(write=False),
)
