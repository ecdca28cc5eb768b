"""Puts on the express path and on the general one: programs cannot distinguish them. And many ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

puts = st.lists(st.lists(st.tuples(*[st.integers(0, 2)] * 2, st.integers(0, 7), st.integers(0, 4)), max_size=6), max_size=4)


@given(rounds=puts, t_w=st.sampled_from([0, 1]))
def test_programs_give_the_same_result_on_both_paths(rounds: list[Any], t_w: int) -> None:
    """Return memory, end times, messages and conflicts; a run with a trace uses the general path."""

    def main(comm: Any) -> Any:
        memory = np.zeros(8, np.int16)
        win = MPI.Win.Create(memory, 2, comm=comm)
        win.Fence()
        for number, epoch in enumerate(rounds):
            for at, (source, target, displacement, count) in enumerate(epoch):
                if comm.rank == source and displacement + count <= 8:
                    win.Put(np.arange(count, dtype=np.int16) + 100 * number + 10 * at, target, displacement)
            win.Fence()
        win.Free()
        return memory.tolist()

    runs = [fakempi.run(main, 3, cost=fakempi.Hockney(4, t_w), trace=trace) for trace in (False, True)]
    one, other = ((run.returns, run.clocks, run.messages, sorted(map(str, run.findings))) for run in runs)
    assert one == other


@pytest.mark.slow
def test_65536_ranks_can_open_a_window() -> None:
    """No data of a rank grows with their number, otherwise memory would not suffice."""

    def main(comm: Any) -> None:
        win = MPI.Win.Create(fakempi.phantom(8), comm=comm)
        win.Fence()
        win.Put(fakempi.phantom(8), (comm.rank + 1) % comm.size)
        win.Fence()
        win.Free()

    assert fakempi.run(main, 65536).messages == 65536
