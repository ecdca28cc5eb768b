"""A message that a probe has returned stays available: no later probe of the rank reports "not yet" (MPI 4.1, 3.8.1)."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.modelcheck.oracle.compare import MODES, compared
from tests.modelcheck.oracle.driver import explored
from tests.modelcheck.oracle.program import ANY, Op, Program

SENDERS = ((Op("send", peer=0, tag=1),), (Op("send", peer=0, tag=2),))
LOOK = Op("iprobe", peer=ANY, tag=ANY)
NAMED = Op("probe", peer=1, tag=ANY)


@pytest.mark.parametrize(
    ("looks", "possible"),
    [
        ((LOOK, LOOK), {(True, True), (False, True), (False, False)}),
        ((NAMED, LOOK), {(True,)}),
        ((NAMED, LOOK._replace(peer=1)), {(True,)}),
        ((NAMED, LOOK._replace(peer=2)), {(True,), (False,)}),
        ((NAMED, LOOK._replace(peer=ANY, tag=1)), {(True,)}),
        ((Op("probe", peer=1, tag=1), LOOK._replace(tag=1)), {(True,)}),
        ((Op("probe", peer=ANY, tag=ANY), LOOK), {(True,)}),
        ((Op("probe", peer=ANY, tag=ANY), LOOK._replace(peer=1)), {(True,), (False,)}),
        ((NAMED, Op("recv", peer=1, tag=1), LOOK), {(True,), (False,)}),
        ((NAMED, Op("irecv", peer=ANY, tag=ANY, slots=(1,)), LOOK, Op("waitall", slots=(1,))), {(True,), (False,)}),
        ((NAMED, Op("mprobe", peer=2, tag=ANY, slots=(1,)), LOOK, Op("mrecv", slots=(1,))), {(True,)}),
    ],
)  # fmt: skip
def test_a_message_that_a_probe_has_returned_stays_available(looks: tuple[Op, ...], possible: set[Any]) -> None:
    """Until a receive may have taken it; probes may miss other messages."""
    program = Program((looks, *SENDERS))
    seen = {tuple(one[1] for one in run[0][0] if len(one) == 3) for run in explored(program, buffering="infinite").runs}
    assert seen == possible
    assert compared(program, MODES[1]).problem is None


def test_a_program_that_probes_twice_is_clean() -> None:
    """It relies only on MPI's text."""

    def main(comm: Any) -> None:
        if comm.rank:
            comm.send(None, 0)
            return
        status = MPI.Status()
        comm.probe(status=status)
        assert comm.iprobe(source=status.source)
        for _ in range(comm.size - 1):
            comm.recv()

    assert fakempi.explore(main, 3).failures == []
