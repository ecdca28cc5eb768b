"""The environment of a rank: clock, node, versions, initialization and finalization; also outside a run."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import run


def test_the_clock_starts_at_zero_and_advances_by_computing(backend: Any) -> None:
    """Each rank has its own."""

    def main(comm: Any) -> Any:
        start = MPI.Wtime()
        fakempi.compute(comm.rank)
        fakempi.compute(0)
        fakempi.compute(0.25)
        return type(start), start, MPI.Wtime()

    assert run(main, 3, backend) == [(float, 0.0, rank + 0.25) for rank in range(3)]


def test_the_clock_advances_by_communicating() -> None:
    """According to the model."""

    def main(comm: Any) -> float:
        comm.Sendrecv(b"1234", 0, 0, bytearray(4), 0, 0)
        return MPI.Wtime()

    assert run(main, 1, cost=fakempi.Hockney(t_s=1.0, t_w=0.5)) == [3.0]


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_invalid_computing_times_are_rejected(seconds: float) -> None:
    """Negative, infinite, or not a number."""

    def main(comm: Any) -> None:
        with pytest.raises(ValueError, match=f"^compute on rank 0: cannot compute for {seconds} seconds\\.$"):
            fakempi.compute(seconds)

    run(main, 1)


def test_the_clock_has_a_resolution() -> None:
    """Positive, and small."""
    assert 0 < MPI.Wtick() <= 1e-6


def test_processor_names_come_from_the_placement() -> None:
    """Given, counted, or all equal."""

    def main(comm: Any) -> str:
        return MPI.Get_processor_name()

    assert run(main, 3, cost=fakempi.TwoLevel(placement=["login", "gpu", "gpu"])) == ["login", "gpu", "gpu"]
    assert run(main, 3, cost=fakempi.TwoLevel(2)) == ["node0", "node0", "node1"]
    assert len(set(run(main, 3))) == 1


def test_versions_and_vendor() -> None:
    """They name no library that a program could treat specially."""
    assert MPI.Get_version() == (MPI.VERSION, MPI.SUBVERSION)
    assert MPI.Get_version() == (4, 1)
    name, version = MPI.get_vendor()
    assert name not in ("MPICH", "Open MPI", "Intel MPI", "Microsoft MPI")
    assert len(version) == 3
    assert "fakempi" in MPI.Get_library_version()
    assert len(MPI.Get_library_version()) <= MPI.MAX_LIBRARY_VERSION_STRING


def test_ranks_are_initialized_when_they_start() -> None:
    """Calling Init again does nothing; all threads of a rank may call MPI."""

    def main(comm: Any) -> Any:
        MPI.Init()
        given = MPI.Init_thread(MPI.THREAD_SINGLE)
        assert given == MPI.Query_thread() == MPI.THREAD_MULTIPLE
        return MPI.Is_initialized(), MPI.Is_finalized(), MPI.Is_thread_main()

    assert run(main, 2) == [(True, False, True)] * 2


def test_each_rank_finalizes_separately() -> None:
    """The other ranks continue."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Finalize()
        return MPI.Is_finalized(), MPI.Is_initialized()

    assert run(main, 2) == [(True, True), (False, True)]


def test_there_is_no_binary_interface_and_no_hardware() -> None:
    """MPI reports this by -1 and by None; properties of integers are available."""
    assert MPI.Get_hw_resource_info().items() == []
    assert MPI.Get_abi_version() == (-1, -1)
    assert MPI.Get_abi_info().items() == [(f"mpi_{name}_size", "8") for name in ("aint", "count", "offset")]
    assert MPI.AINT.Get_size() == MPI.COUNT.Get_size() == MPI.OFFSET.Get_size() == 8
    assert MPI.Get_abi_fortran_info() == MPI.INFO_NULL


@pytest.mark.parametrize("kind", [MPI.Win, MPI.File, MPI.Session])
def test_null_handles_have_the_number_0(kind: Any) -> None:
    """They are created from 0, too."""
    null = kind.fromhandle(kind().handle)
    assert (type(null), bool(null), null.toint(), null.py2f()) == (kind, False, 0, 0)
    assert null == kind() == kind.fromint(0) == kind.f2py(0)
    with pytest.raises(MPI.Exception, match=f"no {kind.__name__} has the handle 7"):
        kind.fromhandle(7)


def test_a_new_run_has_initial_state() -> None:
    """Independent of earlier runs; so does the singleton."""
    run(lambda comm: MPI.Finalize(), 1)
    assert (MPI.Is_initialized(), MPI.Is_finalized()) == (True, False)
    assert run(lambda comm: MPI.Is_finalized(), 1) == [False]


def test_pcontrol_does_nothing() -> None:
    """At any level."""

    def main(comm: Any) -> float:
        for level in (0, 1, 2, -1):
            MPI.Pcontrol(level)
        return MPI.Wtime()

    assert run(main, 1) == [0.0]


def test_calls_that_are_not_emulated_raise() -> None:
    """The error has the name of the call."""
    with pytest.raises(NotImplementedError, match=r"^MPI\.Register_datarep with conversion functions is not supported\.$"):
        MPI.Register_datarep("d", print, print, lambda datatype: 1)


def test_a_name_that_does_not_exist() -> None:
    """An AttributeError, as for any module."""
    with pytest.raises(AttributeError, match="^fakempi's MPI has no 'Nonsense'$"):
        getattr(MPI, "Nonsense")  # noqa: B009  # mypy rejects MPI.Nonsense


def test_runs_in_several_threads_do_not_see_each_other() -> None:
    """Each has separate ranks and clocks."""
    outcome: dict[int, list[Any]] = {}

    def main(comm: Any, number: int) -> Any:
        for _ in range(20):
            comm.sendrecv(number, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
        fakempi.compute(number)
        return comm.size, MPI.COMM_WORLD is comm, MPI.Wtime() >= number

    def go(number: int) -> None:
        outcome[number] = fakempi.run(main, number + 1, number).returns

    threads = [threading.Thread(target=go, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcome == {number: [(number + 1, True, True)] * (number + 1) for number in range(3)}
