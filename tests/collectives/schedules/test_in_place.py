"""Files of MSCCL in place: the input is a part of the output, or the output a part of the input."""

from __future__ import annotations

import numpy as np

import fakempi
from collectives.schedules import Schedule, msccl
from fakempi import MPI


def document(coll: str, chunks: tuple[int, int], steps: list[list[tuple[str, str, int, int]]]) -> Schedule:
    """An MSCCL file in place with one thread block for each partner; a step is (type, buffer, offset, count)."""
    gpus = []
    for rank, blocks in enumerate(steps):
        other = 1 - rank
        lines = [
            f'<step s="{s}" type="{kind}" srcbuf="{buf}" srcoff="{off}" dstbuf="{buf}" dstoff="{off}" cnt="{count}" '
            'depid="-1" deps="-1" hasdep="0"/>'
            for s, (kind, buf, off, count) in enumerate(blocks)
        ]
        gpus.append(
            f'<gpu id="{rank}" i_chunks="{chunks[0]}" o_chunks="{chunks[1]}" s_chunks="0">'
            f'<tb id="0" send="{other}" recv="{other}" chan="0">{"".join(lines)}</tb></gpu>'
        )
    return msccl.read(
        f'<algo name="x" coll="{coll}" ngpus="2" nchannels="1" nchunksperloop="2" proto="Simple" inplace="1">'
        f"{''.join(gpus)}</algo>"
    )


def test_an_allreduce_in_place() -> None:
    """Each rank reduces one chunk and sends it back; the call has two buffers, and the input keeps its contents."""
    schedule = document(
        "allreduce", (2, 2), [[("s", "i", 1, 1), ("rrc", "i", 0, 1), ("s", "o", 0, 1), ("r", "o", 1, 1)],
                              [("s", "i", 0, 1), ("rrc", "i", 1, 1), ("s", "o", 1, 1), ("r", "o", 0, 1)]]
    )  # fmt: skip
    assert schedule.verify() == []

    def main(comm: MPI.Intracomm) -> tuple[list[int], list[int]]:
        mine, total = np.arange(4) + 10 * comm.rank, np.zeros(4, int)
        comm.Allreduce(mine, total)
        return mine.tolist(), total.tolist()

    done = fakempi.run(main, 2, algorithms={"allreduce": schedule.algorithm()})
    assert done.returns == [([0, 1, 2, 3], [10, 12, 14, 16]), ([10, 11, 12, 13], [10, 12, 14, 16])]


def test_a_reduce_scatter_in_place() -> None:
    schedule = document(
        "reduce_scatter", (2, 1), [[("s", "i", 1, 1), ("rrc", "i", 0, 1)], [("s", "i", 0, 1), ("rrc", "i", 1, 1)]]
    )
    assert schedule.verify() == []

    def main(comm: MPI.Intracomm) -> tuple[list[int], list[int]]:
        mine, total = np.arange(4) + 10 * comm.rank, np.zeros(2, int)
        comm.Reduce_scatter_block(mine, total)
        return mine.tolist(), total.tolist()

    done = fakempi.run(main, 2, algorithms={"reduce_scatter_block": schedule.algorithm()})
    assert done.returns == [([0, 1, 2, 3], [10, 12]), ([10, 11, 12, 13], [14, 16])]


def test_an_allgather_in_place() -> None:
    schedule = document("allgather", (1, 2), [[("s", "o", 0, 1), ("r", "o", 1, 1)], [("s", "o", 1, 1), ("r", "o", 0, 1)]])
    assert schedule.verify() == []
    done = fakempi.run(lambda comm: comm.allgather(comm.rank), 2)
    assert done.returns == [[0, 1], [0, 1]]

    def main(comm: MPI.Intracomm) -> list[int]:
        everything = np.zeros(4, int)
        comm.Allgather(np.full(2, comm.rank + 1), everything)
        return everything.tolist()

    assert fakempi.run(main, 2, algorithms={"allgather": schedule.algorithm()}).returns == [[1, 1, 2, 2]] * 2


def test_a_broadcast_with_separate_buffers() -> None:
    """MPI's call has one buffer, so the root's input is a copy of it."""
    text = (
        '<algo name="x" coll="broadcast" ngpus="2" nchannels="1" nchunksperloop="1" proto="Simple" inplace="0">'
        '<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="1" recv="-1" chan="0">'
        '<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/>'
        '<step s="1" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb></gpu>'
        '<gpu id="1" i_chunks="0" o_chunks="1" s_chunks="0"><tb id="0" send="-1" recv="0" chan="0">'
        '<step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb></gpu></algo>'
    )
    schedule = msccl.read(text)
    assert schedule.verify() == []

    def main(comm: MPI.Intracomm) -> list[int]:
        data = np.arange(4) if comm.rank == 0 else np.zeros(4, int)
        comm.Bcast(data)
        return data.tolist()

    assert fakempi.run(main, 2, algorithms={"bcast": schedule.algorithm()}).returns == [[0, 1, 2, 3]] * 2
