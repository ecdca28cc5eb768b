"""Claims of the paper: rounds, memory, the cost of long colors, and growth with log N."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import Algorithm, Case, find
from collectives.chain import ItemMeter
from collectives.chain.hashing import HashedColor
from collectives.tools.numbers import ceil_log2
from tests.collectives.chain.harness import EXACT, ROUNDS
from tests.collectives.split.harness import SPLITS, expected, name_of, run_split

FEW = ["red", "green", "blue", "white"]
SIZES = (20, 40, 120)


@pytest.mark.parametrize("d", range(1, 8))
def test_a_bitonic_split_of_a_power_of_two_has_d_times_d_plus_nine_halves_rounds(d: int) -> None:
    """d (d+1) / 2 to sort, 2 d for addresses, 2 with the neighbors, 2 d to count, 1 to the owner of the item."""
    size = 1 << d
    keys = [-rank for rank in range(size)]
    run = run_split(find("split", "bitonic"), [None] * size, keys, ROUNDS, widths=(0, 0))
    assert run.returns == expected([None] * size, keys)
    assert run.time == d * (d + 1) // 2 + 2 * d + 2 + 2 * d + 1


@pytest.mark.parametrize("algorithm", [a for a in SPLITS if a.schedule], ids=name_of)
@pytest.mark.parametrize("size", [1, 2, 5, 8, 13, 32])
def test_runs_equal_the_schedule(algorithm: Algorithm, size: int) -> None:
    """For algorithms whose messages do not depend on the data; items have 1 + 8 + 8 + 4 + 4 bytes."""
    colors, keys = [rank % 3 for rank in range(size)], [rank % 2 for rank in range(size)]
    case = Case(size, 25)
    run = run_split(algorithm, colors, keys, fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0), widths=(0, 0))
    assert run.time == algorithm.time(case, 8.0, 0.5)
    assert run.messages == sum(len(transfers) for transfers in algorithm.schedule_for(case) or ())
    assert run_split(algorithm, colors, keys, ROUNDS, widths=(0, 0)).time == algorithm.rounds(case)


class BufferRecorder:
    """A communicator that records the largest buffer that is passed to it."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.largest = comm, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.comm, name)

        def recorded(*arguments: Any, **options: Any) -> Any:
            self.largest = max([self.largest, *(each.nbytes for each in arguments if isinstance(each, np.ndarray))])
            return method(*arguments, **options)

        return recorded


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_only_allgathers_trees_and_sack_gropp_have_buffers_that_grow_with_the_ranks(algorithm: Algorithm) -> None:
    """Measured by the buffers of messages, independently of the meter."""
    given = {"cheng": {"M": 16}, "sack_gropp": {"sorters": 5}, "best": {"max_items": 0}, "hash64": {"threshold": 8}}
    options = given.get(algorithm.name, {})

    def main(comm: Any) -> int:
        recorder = BufferRecorder(comm)
        algorithm.run(recorder, comm.Get_rank() % 4, -comm.Get_rank(), **options)
        return recorder.largest

    largest = [max(fakempi.run(main, size).returns) for size in (40, 80)]
    if algorithm.name in ("allgather_group", "allgather_mpi", "gather_scatter", "sack_gropp"):
        assert largest[1] > 1.5 * largest[0]
    else:
        assert largest[1] == largest[0]


@pytest.mark.quick(2)
@pytest.mark.parametrize("algorithm", SPLITS, ids=name_of)
def test_no_rank_holds_more_items_than_claimed(algorithm: Algorithm) -> None:
    """O(1) for hash and radix, O(log N) for bitonic, O(N/P) for Cheng and for Sack and Gropp, O(N) for the others."""
    given: dict[str, dict[str, Any]] = {"cheng": {"M": 16}, "radix": {"bits": (16, 16)}}
    options = given.get(algorithm.name, {})
    peaks: list[int] = []
    claims: list[int] = []
    for size in SIZES:
        meters = [ItemMeter() for _ in range(size)]

        def main(comm: Any, meters: list[ItemMeter] = meters) -> None:
            rank = comm.Get_rank()
            key = -rank if algorithm.name == "radix" else None
            algorithm.run(comm, rank % 4, key, meter=meters[rank], **options)

        fakempi.run(main, size)
        assert {meter.held for meter in meters} == {0}
        peaks.append(max(meter.peak for meter in meters))
        bits = {"bits": 16} if algorithm.name == "radix" else options
        claims.append(algorithm.held(Case(size, 25, parameters=bits)) or 0)
        assert peaks[-1] <= claims[-1]
    growth = {"allgather_group": "N", "allgather_mpi": "N", "gather_scatter": "N", "bitonic": "log N", "hash": "1"}
    kind = growth.get(algorithm.name)
    if kind == "N":
        assert peaks == claims == [*SIZES]
    elif kind == "log N":
        assert peaks == claims == [2 + 2 * ceil_log2(size) for size in SIZES]
    elif kind == "1":
        assert peaks == claims == [32, 32, 32]
    elif algorithm.name == "hash64":
        assert claims == [63, 63, 63]
    elif algorithm.name == "radix":
        assert claims[0] == claims[2]
    elif algorithm.name in ("cheng", "sack_gropp"):
        assert peaks[2] < SIZES[2]


def apart(length: int) -> list[str]:
    """Return four colors of one length with different bins in the first iteration."""
    found: dict[int, str] = {}
    for number in range(100):
        name = str(number).ljust(length, ".")
        found.setdefault(HashedColor(name, 3).bin(0), name)
    return list(found.values())[:4]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["bitonic", "gather_scatter", "cheng", "allgather_group", "hash", "hash64"])
def test_the_length_of_a_color_costs_the_sorts_and_not_the_hash(name: str) -> None:
    """Strings of 5 and 80 characters; the groups are too large for the allgather of hash64."""
    size, times = 280 if name == "hash64" else 80, []
    for length in (5, 80):
        names = apart(length)
        colors = [names[rank % 4] for rank in range(size)]
        run = run_split(find("split", name), colors, [None] * size, EXACT, widths=(length, 0))
        assert run.returns == expected(colors, [None] * size)
        times.append(run.time)
    if name.startswith("hash"):
        assert times[1] == times[0]
    else:
        assert times[1] >= 2 * times[0]


def test_the_bytes_of_a_hash_split_do_not_depend_on_the_length_of_colors() -> None:
    """One color of 1 to 3,000 characters takes the same time."""
    times = set()
    for length in (1, 5, 80, 3000):
        colors = ["x" * length] * 40
        times.add((run := run_split(find("split", "hash"), colors, [None] * 40, EXACT)).time)
        assert run.returns == expected(colors, [None] * 40)
    assert len(times) == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", [16, 64, 512])
def test_a_hash_into_few_groups_takes_time_proportional_to_log_n(size: int) -> None:
    """Three scans: one splits, one splits nothing, and one finds that there is one color."""
    colors = [FEW[rank % 4] for rank in range(size)]
    run = run_split(find("split", "hash"), colors, [None] * size, ROUNDS)
    assert run.returns == expected(colors, [None] * size)
    d = ceil_log2(size)
    assert run.time == 2 * d + 4 * (d - 2)


@pytest.mark.quick(1)
@pytest.mark.parametrize("size", [16, 128])
def test_radix_takes_time_proportional_to_log_n_for_keys_of_fixed_width(size: int) -> None:
    """Twenty bits in digits of four: one scan per digit if all keys are equal, otherwise at most one more for the join."""
    radix, together = find("split", "radix"), [None] * size
    for keys in ([3] * size, [rank * 40503 % 65536 for rank in range(size)], [-rank for rank in range(size)]):
        run = run_split(radix, together, keys, ROUNDS, bits=(0, 20))
        assert run.returns == expected(together, keys)
        assert run.time <= 2 * 2 * 5 * ceil_log2(size)
        assert keys[0] != keys[1] or run.time == 2 * 5 * ceil_log2(size)


@pytest.mark.parametrize("name", ["bitonic", "gather_scatter", "cheng", "allgather_group", "allgather_mpi", "sack_gropp"])
def test_local_work_costs_modeled_time_if_requested(name: str) -> None:
    """`work` calls fakempi.compute; by default local work is free."""
    colors, keys = [rank % 3 for rank in range(50)], [-rank for rank in range(50)]
    free = run_split(find("split", name), colors, keys, EXACT)
    charged = run_split(find("split", name), colors, keys, EXACT, work=lambda count: fakempi.compute(count))
    assert charged.returns == free.returns
    assert charged.time > free.time
