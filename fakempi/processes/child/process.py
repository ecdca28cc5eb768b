"""Substitutes for the rank and the loop in a child process, for modules of fakempi that children use."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from fakempi.processes.child.channel import Channel
from fakempi.processes.child.names import reject_import


class ChildRank:
    """The rank that `running_process` returns in a child."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.options: dict[str, Any] | None = None
        self.pickle = None
        self.number = 0
        self.name = "this rank"
        self.initialized = True
        self.thread_level: int | None = None
        self.universe = self  # for pytest's session on this rank, which keeps a summary for each universe
        self.add_note: Any = None  # a function of the parent

    @property
    def comm_world(self) -> Any:
        """COMM_WORLD."""
        return self.channel.module.COMM_WORLD


class Outside:
    """The state outside of runs: empty in a child."""

    process = None
    new_singleton: Any = None
    runs = 0


class ChildLoop:
    """Stands for the loop that runs this rank in the parent: its modeled time is that of the last call."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.running = self.owner = self.universe = self  # the rank, its process and its universe
        self.meter = None

    @property
    def now(self) -> float:
        """The modeled time."""
        return self.channel.clock

    @property
    def clock_reads(self) -> int:
        """The number of times that the program has read a clock since its last call."""
        return self.channel.clock_reads

    @clock_reads.setter
    def clock_reads(self, value: int) -> None:
        self.channel.clock_reads = value


class OSThread:
    """The state of a thread: the loop that runs its rank."""

    def __init__(self, loop: ChildLoop) -> None:
        self.loop = loop


def install(channel: Channel) -> None:
    """Install substitutes for modules of the emulator: a child then imports other modules without loading the emulator."""
    rank = ChildRank(channel)
    current: Any = ModuleType("fakempi.mpi.base.current")
    current.os_thread, current.outside = OSThread(ChildLoop(channel)), Outside()
    current.current_process = current.current_name = current.current_rank = lambda: None
    current.running_process, current.rank_of_child = lambda: rank, rank
    current.__getattr__ = reject_import
    sys.modules[current.__name__] = current
    root = os.path.dirname(str(sys.modules["fakempi"].__file__))
    for name in ("isolation", "mpi"):  # packages whose `__init__` is not executed, so that its imports are not loaded
        package: Any = ModuleType(f"fakempi.{name}")
        package.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules[package.__name__] = package
    predefined: Any = ModuleType("fakempi.mpi.comms.predefined")
    predefined.comm_world, predefined.comm_self = lambda: channel.module.COMM_WORLD, lambda: channel.module.COMM_SELF
    predefined.resolve = lambda name, handle, own: own()
    predefined.__getattr__ = lambda name: getattr(channel.module, name)
    sys.modules[predefined.__name__] = predefined
