"""What not every run needs, imported by those that do: together it would take a quarter of the time until `run` is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from fakempi.kernel.loop import Carrier, Loop
from fakempi.mpi.base.process import Process, Universe

if TYPE_CHECKING:
    from fakempi.choices.choices import Choices


def steering(decisions: str | Choices, seed: int | None, computing: float) -> Choices:
    """Who makes the choices of the run."""
    from fakempi.choices import steering

    return steering.steering(decisions, seed, computing)


def steered(carrier: Carrier, choices: Choices) -> Loop:
    """A loop that has something chosen when nothing can run."""
    from fakempi.choices.wire import OpenLoop

    return OpenLoop(carrier, choices)


def metered(universe: Universe) -> AbstractContextManager[None]:
    """Meanwhile computing is measured."""
    from fakempi import computing

    return computing.metered(universe)


def measured(process: Process, main: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The program of a process whose computing is measured."""
    from fakempi import computing

    return computing.measured(process, main)


def hall(universe: Universe, always: bool) -> Any:
    """Where collective calls are carried out in one piece."""
    from fakempi.paper.hall import Hall

    return Hall(universe, always)


def pin(universe: Universe) -> None:
    """Look after memory that is in use."""
    from fakempi.mpi.buffers.pins import Watch

    universe.pins = Watch(universe, universe.wire.matched)
    universe.wire.matched = universe.pins.matched


def watch(universe: Universe, progress: bool | str, timeout: float | None) -> AbstractContextManager[None]:
    """What looks after the run: a live line, and the time-out."""
    from fakempi.watch.watching import Watch

    return Watch(universe, timeout, progress)


def interrupts(universe: Universe) -> AbstractContextManager[None]:
    """What ends the run on Ctrl-C."""
    from fakempi.watch.interrupts import Interrupts

    return Interrupts(universe)


def script(command: Sequence[str]) -> Callable[[Any], Any]:
    """What a rank runs that is to run a script, given as typed after `python`."""
    from fakempi.script.program import program

    return program(command)
