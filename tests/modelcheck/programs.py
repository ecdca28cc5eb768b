"""Random programs, and the observations of each rank; they compare the reduced search with the full one."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

ANY = MPI.ANY_SOURCE


class Script:
    """Each rank executes its list: ("send", dest, tag, value), ("recv", source, tag), ... and records receives."""

    def __init__(self, lists: list[list[tuple[Any, ...]]]) -> None:
        self.lists = lists
        self.seen: dict[int, list[Any]] = {}

    def __call__(self, comm: Any) -> None:
        """Execute the list of a rank."""
        seen = self.seen[comm.rank] = []
        waiting: list[Any] = []
        for what, *given in self.lists[comm.rank]:
            getattr(self, what)(comm, seen, waiting, *given)
        for request in waiting:
            seen.append(("late", request.wait()))
        seen.append("end")

    def send(self, comm: Any, seen: Any, waiting: Any, dest: int, tag: int, value: int) -> None:
        """Send a constant."""
        comm.send(value, dest, tag)

    def isend(self, comm: Any, seen: Any, waiting: Any, dest: int, tag: int, value: int) -> None:
        """Send a constant; wait at the end."""
        waiting.append(comm.isend(value, dest, tag))

    def inform(self, comm: Any, seen: Any, waiting: Any, dest: int, tag: int) -> None:
        """Send all observations so far."""
        comm.send(tuple(seen), dest, tag)

    def recv(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Receive without a status."""
        seen.append(comm.recv(source=source, tag=tag))

    def ask(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Receive with a status."""
        status = MPI.Status()
        seen.append((comm.recv(source=source, tag=tag, status=status), status.source))

    def irecv(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Post a receive; wait at the end, or by waitany."""
        waiting.append(comm.irecv(source=source, tag=tag))

    def waitany(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Wait for one of the requests."""
        if waiting:
            index, value = MPI.Request.waitany(waiting)
            waiting.pop(index)
            seen.append((index, value))

    def test(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Wait for the first of the requests."""
        if waiting:
            flag, value = waiting[0].test()
            if flag:
                waiting.pop(0)
            seen.append((flag, value))

    def waitsome(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Wait for some of the requests."""
        if waiting:
            indices, values = MPI.Request.waitsome(waiting)
            for index in sorted(indices or (), reverse=True):
                waiting.pop(index)
            seen.append((tuple(indices or ()), tuple(values or ())))

    def testany(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Test the requests."""
        if waiting:
            index, flag, value = MPI.Request.testany(waiting)
            if flag:
                waiting.pop(index)
            seen.append((index, flag, value))

    def mprobe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Take a message by a matched probe, and receive it."""
        seen.append(("mprobe", comm.mprobe(source=source, tag=tag).recv()))

    def bcast(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Return the observations of rank 0."""
        seen.append(comm.bcast(len(seen)))

    def probe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Probe with a status."""
        status = MPI.Status()
        comm.probe(source=source, tag=tag, status=status)
        seen.append(("probe", status.source))

    def iprobe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Probe without a status."""
        seen.append(("iprobe", comm.iprobe(source=source, tag=tag)))

    def fail(self, comm: Any, seen: Any, waiting: Any, value: int) -> None:
        """Execute a step if a value was observed."""
        assert value not in seen

    def barrier(self, comm: Any, seen: Any, waiting: Any) -> None:
        """All ranks call it; otherwise the program deadlocks."""
        comm.barrier()


def outcomes(lists: list[list[tuple[Any, ...]]], **options: Any) -> tuple[set[Any], Any]:
    """Return the possible observations of each rank over all schedules, and the exploration."""
    import fakempi

    script = Script(lists)
    seen: set[Any] = set()

    def on_run(found: Any, waiting: int) -> None:
        ended_early = getattr(found, "ended_early", 0)
        if ended_early == on_run.ended_early:  # type: ignore[attr-defined]
            seen.update((rank, repr(what)) for rank, what in script.seen.items())
        on_run.ended_early = ended_early  # type: ignore[attr-defined]
        script.seen.clear()

    on_run.ended_early = 0  # type: ignore[attr-defined]
    found = fakempi.explore(lambda comm: script(comm), len(lists), on_run=on_run, ignore_shared=True, **options)
    return seen, found
