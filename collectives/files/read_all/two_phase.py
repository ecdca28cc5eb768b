"""Read_all by two phases: aggregators read few large pieces, and send every rank the requested bytes.

This is write_all by two phases, reversed. After the aggregators have received the requests for their domains, each joins the
runs of all ranks in its window, reads each joined run by one call, and sends every rank its bytes, in step k to the ranks at
distance k. Bytes that no rank requests are not read. All requested bytes must be in the file.

    p = 4, A = 2, blocks of one byte, round robin: ranks request bytes 0 4, 1 5, 2 6, 3 7; domains 0-3 and 4-7
    0 and 2 read four bytes each; step 1: 0 sends byte 1 to 1, 2 sends 7 to 3; step 2: 0 sends 2 to 2, 2 sends 4 to 0;
    step 3: 0 sends 3 to 3, 2 sends 5 to 1

Rounds   2 ceil(log2 p) + (2 + R) (p-1)    Sent per rank   24 L + 8 A + 16 n; + N/A on aggregators; not counting itself
         Scratch   24; on an aggregator also 8 + 16 j for each other rank with j runs, and nearly 2 N/A
Time     2 L (t_s + 12 t_w) + r t_s + s t_w; write_all by two phases defines the symbols and the time of the file server
Fits     any p, 1 <= A <= p
Best     many small runs without holes between those of different ranks, and a file with a high cost per access
Source   as write_all by two phases: del Rosario, Bordawekar, Choudhary, 1993; Thakur, Gropp, Lusk, 1999
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.files.claims import claims
from collectives.files.two_phase import AccessPlan, File, exchange_blocks
from collectives.tools.protocol import Comm


@algorithm(**claims(write=False))
def read_all_two_phase(
    comm: Comm, file: File, runs: Any, data: Any, *, aggregators: int = 1, buffer_bytes: int = 16 << 20, tag: int = 0
) -> None:
    """Read this rank's runs of the file (offset, length) into `data`, an array of bytes."""
    plan = AccessPlan(comm, runs, aggregators, buffer_bytes, tag)
    if plan.runs.size != data.size:
        raise ValueError(f"the buffer has {data.size} bytes, but the runs have {plan.runs.size}; they must be equal")
    for low, mine, parts, buffers, window in plan.windows(data):
        plan.access(parts, window, low, file.Read_at)
        for rank, part in parts.items():
            contents = mine[rank] if rank == plan.rank else buffers[rank]
            for inside, at in part.slices_in(low):
                contents[at] = window[inside]
        exchange_blocks(comm, buffers, mine, tag)
    plan.finish()
