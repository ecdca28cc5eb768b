"""Reports name arguments as the program has written them, next to their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney
from fakempi.core.reports.written_arguments import MAX_LENGTH, PARAMETERS, written_arguments

TAG = 4
UNBUFFERED = Hockney(eager_limit=0)


def call_of(main: Any, nprocs: int = 2, rank: int = 0, **options: Any) -> str:
    """The blocked call of a rank, as the report has it."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, nprocs, **options)
    [line] = [line for line in str(caught.value).splitlines() if line.startswith(f"  rank {rank}: ")]
    return line.partition(": ")[2].rpartition(" at ")[0]


def test_names_and_expressions_are_shown_with_their_values(backend: Any) -> None:
    """By position and by name; in a call over several lines, too."""

    def by_position(comm: Any) -> None:
        left = 1 - comm.rank
        comm.Probe(left, TAG)

    def by_name(comm: Any) -> None:
        right = 1 - comm.rank
        comm.Sendrecv(
            np.zeros(3),
            right,
            recvbuf=np.zeros(3), source=1 - comm.rank,
            recvtag=TAG + 1,
        )  # fmt: skip

    assert call_of(by_position, backend=backend) == "Probe(source=left (1), tag=TAG (4))"
    expected = "Sendrecv(dest=right (1), tag=0, 24 bytes; source=1 - comm.rank (1), tag=TAG + 1 (5))"
    assert call_of(by_name, backend=backend, cost=UNBUFFERED) == expected


def test_a_wait_has_the_arguments_of_the_call_that_made_the_request(backend: Any) -> None:
    """Each of its requests has them."""

    def main(comm: Any) -> None:
        peer = 1 - comm.rank
        first, second = comm.irecv(source=peer, tag=1), comm.Irecv(np.zeros(1), peer, TAG)
        MPI.Request.Waitall([first, second])

    assert call_of(main, backend=backend) == "Waitall(source=peer (1), tag=1; source=peer (1), tag=TAG (4))"


def test_numbers_and_wildcards_of_the_program_are_shown_as_before() -> None:
    """The report has the same text as the program."""

    def main(comm: Any) -> None:
        comm.recv(source=1, tag=MPI.ANY_TAG) if comm.rank == 0 else comm.probe(MPI.ANY_SOURCE, 7)

    assert call_of(main) == "recv(source=1, tag=ANY)"
    assert call_of(main, rank=1) == "probe(source=ANY, tag=7)"


def test_two_calls_on_a_line_are_told_apart_by_their_position() -> None:
    """Python 3.10 has no positions, and shows values only."""

    def main(comm: Any) -> None:
        one, other = 1, 0
        comm.recv(source=one) if comm.rank == 0 else comm.recv(source=other)

    exact = hasattr(main.__code__, "co_positions")
    assert call_of(main) == ("recv(source=one (1), tag=ANY)" if exact else "recv(source=1, tag=ANY)")
    assert call_of(main, rank=1) == ("recv(source=other (0), tag=ANY)" if exact else "recv(source=0, tag=ANY)")


def test_neighbors_that_share_a_line_have_the_expression_and_the_distance() -> None:
    """A reader finds `dest=right` in the program."""

    def main(comm: Any) -> None:
        right = (comm.rank + 1) % comm.size
        comm.Send(np.zeros(8), dest=right)

    with pytest.raises(fakempi.DeadlockError, match=r"\n  ranks 0-6: Send\(dest=right \(rank\+1\), tag=0, 64 bytes\) at "):
        fakempi.run(main, 7, cost=UNBUFFERED)


def test_long_expressions_starred_arguments_and_unknown_sources_show_values_only() -> None:
    """An expression of the greatest length is shown."""
    names: dict[str, Any] = {}
    exec("def unknown(comm):\n    peer = 1 - comm.rank\n    comm.recv(source=peer)\n", names)  # no file has this line

    def starred(comm: Any) -> None:
        where = (1 - comm.rank, 7)
        comm.Probe(*where)

    def long(comm: Any) -> None:
        comm.recv(source=(1 - comm.rank) * (1 if comm.size else 0) + 0 * comm.rank)

    assert MAX_LENGTH == 40
    for main in (names["unknown"], long):
        assert call_of(main) == "recv(source=1, tag=ANY)"
    assert call_of(starred) == "Probe(source=1, tag=7)"


def test_ranks_with_different_roots_see_the_expression() -> None:
    """In the call that fails."""

    def main(comm: Any) -> None:
        boss = comm.rank % 2
        comm.bcast(1, root=boss)

    with pytest.raises(fakempi.RankError, match="root=boss is 1 here"):
        fakempi.run(main, 2)


def test_the_parameters_are_those_of_the_methods() -> None:
    """In the same order."""
    import inspect

    for name, parameters in PARAMETERS.items():
        method = getattr(MPI.Comm, name, None) or getattr(MPI.Intracomm, name)
        known = list(inspect.signature(method).parameters)[1:]
        assert [b for a, b in zip(parameters, known, strict=False) if a != "_"] == [a for a in parameters if a != "_"], name


def test_other_methods_have_no_arguments() -> None:
    """No file is read for them."""
    assert written_arguments("Barrier", call_of.__code__, 0, 1) == {}
