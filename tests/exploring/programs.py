"""Programs made by chance, and what each rank sees in them; for holding the reduced search against the full one."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

ANY = MPI.ANY_SOURCE


class Script:
    """Each rank does its list of things: ("send", dest, tag, value), ("recv", source, tag), ... What it sees is kept."""

    def __init__(self, lists: list[list[tuple[Any, ...]]]) -> None:
        self.lists = lists
        self.seen: dict[int, list[Any]] = {}

    def __call__(self, comm: Any) -> None:
        """On a rank."""
        seen = self.seen[comm.rank] = []
        waiting: list[Any] = []
        for what, *given in self.lists[comm.rank]:
            getattr(self, what)(comm, seen, waiting, *given)
        for request in waiting:
            seen.append(("late", request.wait()))
        seen.append("end")

    def send(self, comm: Any, seen: Any, waiting: Any, dest: int, tag: int, value: int) -> None:
        """Something fixed."""
        comm.send(value, dest, tag)

    def tell(self, comm: Any, seen: Any, waiting: Any, dest: int, tag: int) -> None:
        """All it has seen."""
        comm.send(tuple(seen), dest, tag)

    def recv(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """And do not ask from whom."""
        seen.append(comm.recv(source=source, tag=tag))

    def ask(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Receive, and ask from whom."""
        status = MPI.Status()
        seen.append((comm.recv(source=source, tag=tag, status=status), status.source))

    def irecv(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """To be waited for at the end, or by waitany."""
        waiting.append(comm.irecv(source=source, tag=tag))

    def waitany(self, comm: Any, seen: Any, waiting: Any) -> None:
        """One of those."""
        if waiting:
            index, value = MPI.Request.waitany(waiting)
            waiting.pop(index)
            seen.append((index, value))

    def test(self, comm: Any, seen: Any, waiting: Any) -> None:
        """The first of those."""
        if waiting:
            flag, value = waiting[0].test()
            if flag:
                waiting.pop(0)
            seen.append((flag, value))

    def waitsome(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Some of those."""
        if waiting:
            indices, values = MPI.Request.waitsome(waiting)
            for index in sorted(indices or (), reverse=True):
                waiting.pop(index)
            seen.append((tuple(indices or ()), tuple(values or ())))

    def testany(self, comm: Any, seen: Any, waiting: Any) -> None:
        """One of those, or none."""
        if waiting:
            index, flag, value = MPI.Request.testany(waiting)
            if flag:
                waiting.pop(index)
            seen.append((index, flag, value))

    def mprobe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Take one, and receive it then."""
        seen.append(("mprobe", comm.mprobe(source=source, tag=tag).recv()))

    def bcast(self, comm: Any, seen: Any, waiting: Any) -> None:
        """What rank 0 has seen."""
        seen.append(comm.bcast(len(seen)))

    def probe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Look, and ask from whom."""
        status = MPI.Status()
        comm.probe(source=source, tag=tag, status=status)
        seen.append(("probe", status.source))

    def iprobe(self, comm: Any, seen: Any, waiting: Any, source: int, tag: int) -> None:
        """Look, and ask nothing."""
        seen.append(("iprobe", comm.iprobe(source=source, tag=tag)))

    def fail(self, comm: Any, seen: Any, waiting: Any, value: int) -> None:
        """If it has seen that."""
        assert value not in seen

    def barrier(self, comm: Any, seen: Any, waiting: Any) -> None:
        """Everybody, or it gets stuck."""
        comm.barrier()


def outcomes(lists: list[list[tuple[Any, ...]]], **options: Any) -> tuple[set[Any], Any]:
    """What each rank may see, over all schedules; and what was found."""
    import fakempi

    script = Script(lists)
    seen: set[Any] = set()

    def tell(found: Any, waiting: int) -> None:
        ended_early = getattr(found, "ended_early", 0)
        if ended_early == tell.ended_early:  # type: ignore[attr-defined]
            seen.update((rank, repr(what)) for rank, what in script.seen.items())
        tell.ended_early = ended_early  # type: ignore[attr-defined]
        script.seen.clear()

    tell.ended_early = 0  # type: ignore[attr-defined]
    found = fakempi.explore(lambda comm: script(comm), len(lists), tell=tell, **options)
    return seen, found
