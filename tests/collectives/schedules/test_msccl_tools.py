"""MSCCL files in place as msccl-tools writes them: steps name one buffer, and the other one has 0 chunks.

The programs below send one chunk per step. `instances` repeats a program on other channels and other parts of each chunk, as
msccl-tools does: chunk c of instance i is chunk c * instances + i.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import fakempi
from collectives.schedules import InvalidScheduleError, Schedule, msccl
from fakempi import MPI

Program = Callable[[int], Iterator[tuple[str, str, int, int, int]]]
"""Yields (type of the receiving step, buffer, source, destination, chunk) of each message, for a number of ranks."""


def ring_allgather(p: int) -> Iterator[tuple[str, str, int, int, int]]:
    for step in range(p - 1):
        for chunk in range(p):
            yield "r", "o", (chunk + step) % p, (chunk + step + 1) % p, chunk


def ring_reduce_scatter(p: int) -> Iterator[tuple[str, str, int, int, int]]:
    for step in range(p - 1):
        for chunk in range(p):
            yield "rrc", "i", (chunk + step + 1) % p, (chunk + step + 2) % p, chunk


def ring_allreduce(p: int) -> Iterator[tuple[str, str, int, int, int]]:
    yield from ring_reduce_scatter(p)
    for kind, _, source, destination, chunk in ring_allgather(p):
        yield kind, "i", source, destination, chunk


def chain_broadcast(p: int) -> Iterator[tuple[str, str, int, int, int]]:
    for rank in range(p - 1):
        yield "r", "i", rank, rank + 1, 0


def chain_reduce(p: int) -> Iterator[tuple[str, str, int, int, int]]:
    for rank in reversed(range(1, p)):
        yield "rrc", "i", rank, rank - 1, 0


PROGRAMS = {
    "allgather": ring_allgather,
    "reduce_scatter": ring_reduce_scatter,
    "allreduce": ring_allreduce,
    "broadcast": chain_broadcast,
    "reduce": chain_reduce,
}


def document(coll: str, p: int, messages: list[tuple[str, str, int, int, int]], *, channels: int = 1, instances: int = 1,
             sizes: dict[str, int] | None = None) -> str:  # fmt: skip
    """Return the file of a program. Each channel of a rank is a thread block; sizes follow from the use unless given."""
    blocks: list[defaultdict[int, list[str]]] = [defaultdict(list) for _ in range(p)]
    peers: list[dict[int, dict[str, int]]] = [defaultdict(lambda: {"send": -1, "recv": -1}) for _ in range(p)]
    used: list[defaultdict[str, int]] = [defaultdict(int) for _ in range(p)]
    for instance in range(instances):
        for kind, buffer, source, destination, chunk in messages:
            channel, offset = instance * channels + chunk % channels, chunk * instances + instance
            for rank, step, way, peer in ((source, "s", "send", destination), (destination, kind, "recv", source)):
                lines = blocks[rank][channel]
                lines.append(
                    f'<step s="{len(lines)}" type="{step}" srcbuf="{buffer}" srcoff="{offset}" dstbuf="{buffer}" '
                    f'dstoff="{offset}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
                )
                peers[rank][channel][way] = peer
                used[rank][buffer] = max(used[rank][buffer], offset + 1)
    text = f'<algo name="x" proto="Simple" nchannels="{channels * instances}" nchunksperloop="{p}" ngpus="{p}" '
    text += f'coll="{coll}" inplace="1">\n'
    for rank in range(p):
        count = {letter: (sizes or used[rank]).get(letter, 0) for letter in "ios"}
        text += f'<gpu id="{rank}" i_chunks="{count["i"]}" o_chunks="{count["o"]}" s_chunks="{count["s"]}">\n'
        for number, (channel, lines) in enumerate(sorted(blocks[rank].items())):
            ends = peers[rank][channel]
            text += f'<tb id="{number}" send="{ends["send"]}" recv="{ends["recv"]}" chan="{channel}">'
            text += "\n".join(lines) + "</tb>\n"
        text += "</gpu>\n"
    return text + "</algo>\n"


def written(coll: str, p: int, *, channels: int = 1, instances: int = 1) -> Schedule:
    return msccl.read(document(coll, p, [*PROGRAMS[coll](p)], channels=channels, instances=instances))


@pytest.mark.parametrize(("channels", "instances"), [(1, 1), (2, 1), (1, 3), (2, 2)])
@pytest.mark.parametrize("p", [2, 3, 4])
@pytest.mark.parametrize("coll", sorted(PROGRAMS))
def test_programs_in_place_have_no_faults(coll: str, p: int, channels: int, instances: int) -> None:
    assert written(coll, p, channels=channels, instances=instances).verify() == []


@pytest.mark.parametrize("coll", sorted(PROGRAMS))
def test_each_message_of_a_program_is_needed(coll: str) -> None:
    """Without its last message, or with a wrong chunk in it, a program has faults: completed sizes hide nothing."""
    messages = [*PROGRAMS[coll](3)]
    sizes = {"i": 3, "o": 0} if messages[0][1] == "i" else {"i": 0, "o": 3}
    if coll in ("broadcast", "reduce"):
        sizes = {"i": 2, "o": 0}
        messages += [(kind, buffer, source, destination, 1) for kind, buffer, source, destination, _ in messages]
    assert msccl.read(document(coll, 3, messages, sizes=sizes)).verify() == []
    assert msccl.read(document(coll, 3, messages[:-1], sizes=sizes)).verify() != []
    kind, buffer, source, destination, chunk = messages[-1]
    wrong = (kind, buffer, source, destination, (chunk + 1) % sizes[buffer])
    assert msccl.read(document(coll, 3, [*messages[:-1], wrong], sizes=sizes)).verify() != []


def test_a_written_file_has_the_same_places() -> None:
    for coll in PROGRAMS:
        schedule = written(coll, 3, channels=2)
        again = msccl.read(msccl.write(schedule))
        assert again.verify() == []
        assert again.aliases == schedule.aliases
        for name in ("input", "output"):
            assert [sizes[name] for sizes in again.buffers] == [sizes[name] for sizes in schedule.buffers]


def test_calls_with_two_buffers_use_the_files() -> None:
    """The algorithms of the files have the results of the calls, and leave the send buffers unchanged."""

    def main(comm: MPI.Intracomm) -> list[list[float]]:
        mine = np.arange(6.0) + 10 * comm.rank
        gathered, total, block = np.zeros(18), np.zeros(6), np.zeros(2)
        comm.Allgather(mine, gathered)
        comm.Allreduce(mine, total)
        comm.Reduce_scatter_block(mine, block)
        return [mine.tolist(), gathered.tolist(), total.tolist(), block.tolist()]

    names = {"allgather": "allgather", "allreduce": "allreduce", "reduce_scatter_block": "reduce_scatter"}
    algorithms = {name: written(coll, 3, channels=2).algorithm() for name, coll in names.items()}
    assert fakempi.run(main, 3, algorithms=algorithms).returns == fakempi.run(main, 3).returns


def test_an_alltoall_in_place() -> None:
    """Two ranks exchange a chunk by way of scratch memory; neither of them declares the chunks that it does not move."""
    text = '<algo name="x" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="alltoall" inplace="1">'
    for rank in range(2):
        other = 1 - rank
        text += f'<gpu id="{rank}" i_chunks="{other + 1}" o_chunks="0" s_chunks="1">'
        text += f'<tb id="0" send="{other}" recv="{other}" chan="0">'
        steps = [("s", f"i{other}", "s0"), ("r", "i0", "s0"), ("cpy", "s0", f"i{other}")]
        for s, (kind, source, target) in enumerate(steps):
            text += f'<step s="{s}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" dstbuf="{target[0]}" '
            text += f'dstoff="{target[1]}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        text += "</tb></gpu>"
    assert msccl.read(text + "</algo>").verify() == []


def test_a_custom_collective_has_both_buffers_at_one_place() -> None:
    schedule = msccl.read(document("custom", 2, [*ring_allreduce(2)]))
    assert schedule.verify("allreduce") == []
    assert [{"input", "output"} <= {*sizes} for sizes in schedule.buffers] == [True, True]


@pytest.mark.parametrize("sizes", [{"i": 0, "o": 4}, {"i": 2, "o": 4}, {"i": 4, "o": 4}])
def test_declared_sizes_of_an_allgather(sizes: dict[str, int]) -> None:
    """A block is a rank's share of the output, whatever size a file declares for an input that no step accesses."""
    messages = [("r", "o", source, 1 - source, 2 * source + part) for source in range(2) for part in range(2)]
    schedule = msccl.read(document("allgather", 2, messages, sizes=sizes))
    assert schedule.verify() == []
    assert [each["input"] for each in schedule.buffers] == [2048, 2048]
    assert schedule.aliases == [{"input": ("output", 0)}, {"input": ("output", 2048)}]


def test_a_block_that_is_not_a_whole_number_of_chunks() -> None:
    messages = [("r", "o", 0, 1, 0), ("r", "o", 1, 0, 2)]
    with pytest.raises(InvalidScheduleError, match="3 chunks, which is not a multiple of ngpus=2; declare .* i_chunks"):
        msccl.read(document("allgather", 2, messages))
