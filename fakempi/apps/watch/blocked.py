"""Records of blocked ranks for the deadlock report of the emulator, from the calls in which ranks of a real MPI wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fakempi.apps.watch.mpi_calls import RECEIVES, SENDS, WAITS, arguments, given, is_mpi, operation
from fakempi.apps.watch.positions import RankPosition, blocking_call, own_frame
from fakempi.apps.watch.rank.calls import COMMUNICATORS
from fakempi.errors.paths import place_at
from fakempi.errors.records import AwaitedEvent, BlockedRank, NearMiss


class Waits:
    """The calls of all ranks, and the ranks that each of them waits for."""

    def __init__(self, states: Sequence[RankPosition], offsets: Mapping[int, int], sizes: Mapping[int, int]) -> None:
        self.states = states
        self.offsets, self.sizes = offsets, sizes
        self.calls = {state.number: main_call(state) for state in states}

    def records(self) -> list[BlockedRank]:
        """Return the records of all ranks that have not ended."""
        found = []
        for state in self.states:
            for thread in state.threads if state.kind in ("python", "silent") else ():
                if thread["main"] or own_frame(thread).get("own"):  # not a thread of a package
                    found.append(self._record(state, thread, blocking_call(thread)))
        return found

    def _record(self, state: RankPosition, thread: Mapping[str, Any], call: Mapping[str, Any] | None) -> BlockedRank:
        frame, name = own_frame(thread), "" if thread["main"] else str(thread["name"])
        place: str = place_at(str(frame["file"]), int(frame["line"]))
        if call is not None and call.get("one_of"):
            place = f"{place} (or another call of this line: Python 3.10 does not know)"
        if state.kind == "silent":
            text = f"C code holds the interpreter lock in `{call['text']}`" if call else "C code holds the interpreter lock"
            return BlockedRank(state.number, text, place, state.since, ())
        if state.looping and thread["main"]:
            return BlockedRank(state.number, "a loop that changes nothing", place, state.since, ())
        if call is None:
            return BlockedRank(state.number, "a statement that calls no function", place, state.since, (), thread=name)
        if not is_mpi(call):
            return BlockedRank(state.number, *self._other(state, call, place), thread=name)
        events = tuple(self.events(state, call))
        made = call.get("made")
        label = str(call["name"])
        if isinstance(made, Mapping) and "name" in made:
            request = f"{made['name']} at line {made['line']}"
            events = tuple(replace(event, where=f"{event.where}; {request}") for event in events)
            events = events or (AwaitedEvent("other", where=request),)
        if not events:
            return BlockedRank(state.number, _with_arguments(call), place, state.since, (), thread=name)
        from_any = any(event.kind == "receive" and event.peer is None for event in events)
        return BlockedRank(state.number, label, place, state.since, events, from_any, thread=name)

    def _other(
        self, state: RankPosition, call: Mapping[str, Any], place: str
    ) -> tuple[str, str, float, tuple[AwaitedEvent, ...]]:
        """Return call, place, time and event of a call that is not MPI's."""
        holder = state.file_lock_holder
        awaits = (holder,) if holder is not None and holder >= 0 else ()
        if "arguments" not in call:
            return f"`{call['text']}`", place, state.since, ()
        text = ", ".join(_shown(each) for each in call["arguments"])
        return str(call["function"]), place, state.since, (AwaitedEvent("other", where=text, awaits=awaits),)

    def events(self, state: RankPosition, call: Mapping[str, Any]) -> list[AwaitedEvent]:
        """Return the messages or ranks that an MPI call waits for, as far as its arguments show them."""
        made = call.get("made")
        if str(call.get("name")).lower() in WAITS:
            return self.events(state, made) if isinstance(made, Mapping) and is_mpi(made) else []
        name, values = str(call["name"]), arguments(call)
        found = []
        if name in SENDS and call.get("class") in COMMUNICATORS:
            found.append(self._peer(state, call, "send", values.get("dest"), values.get("tag", values.get("sendtag", 0))))
        if name in RECEIVES and call.get("class") in COMMUNICATORS:
            source = values.get("source") if given(call, "source") else "any"
            tag = values.get("tag", values.get("recvtag"))
            if source is None:
                return [event for event in found if event is not None]
            found.append(self._peer(state, call, "receive", source, tag))
        if operation(call) and call.get("class") in COMMUNICATORS:
            missing = self.missing(state, call)
            if missing:
                found.append(AwaitedEvent("collective", awaits=tuple(missing), where=_of_comm(call, self, state)))
        return [event for event in found if event is not None]

    def _peer(self, state: RankPosition, call: Mapping[str, Any], kind: str, peer: Any, tag: Any) -> AwaitedEvent | None:
        comm = call.get("comm") or {}
        any_source, any_tag = comm.get("any", (-2, -1))
        tag = None if tag is None or tag == any_tag or not isinstance(tag, int) else tag
        others = [each for each in self.members(state, call, remote=True) if each != state.number]
        where, size = _of_comm(call, self, state), int(comm.get("size", 0))
        if peer == "any" or peer == any_source:
            return AwaitedEvent(kind, None, tag, size=size, where=where, awaits=tuple(others))
        if not isinstance(peer, int) or peer == comm.get("null"):
            return None
        numbers = self.members(state, call, remote=True)
        awaits = (numbers[peer],) if 0 <= peer < len(numbers) else ()
        if kind == "send":
            return AwaitedEvent("other", peer, tag, size=size, where=f"dest={peer}, tag={tag}{where}", awaits=awaits)
        return AwaitedEvent(kind, peer, tag, size=size, where=where, awaits=awaits)

    def members(self, state: RankPosition, call: Mapping[str, Any], remote: bool = False) -> list[int]:
        """Return the members of a call's communicator; with `remote`, of an intercommunicator the group of the peers."""
        comm = call.get("comm") or {}
        group = comm.get("remote") if remote and "remote" in comm else comm.get("group")
        process = state.process
        if process is None or not isinstance(group, list):
            return self._world(state) if "COMM_WORLD" in str(call.get("function")) else []
        if None in group:  # ranks of another group, which was spawned or has spawned this one
            others = [each for each, size in self.sizes.items() if each != process.group and size == len(group)]
            return [self.offsets[others[0]] + rank for rank in range(len(group))] if len(others) == 1 else []
        return [self.offsets[process.group] + rank for rank in group]

    def _world(self, state: RankPosition) -> list[int]:
        group = state.process.group if state.process else 0
        return list(range(self.offsets[group], self.offsets[group] + self.sizes[group]))

    def missing(self, state: RankPosition, call: Mapping[str, Any]) -> list[int]:
        """Return members of the communicator that are not in the same collective call."""
        found = self.members(state, call)
        if "remote" in (call.get("comm") or {}):
            found = found + self.members(state, call, remote=True)
        return [each for each in found if each != state.number and operation(self.calls.get(each) or {}) != operation(call)]

    def near_misses(self) -> list[NearMiss]:
        """Return messages that have arrived and sends that wait, if only tag or source differs from the awaited one."""
        found = []
        for state in self.states:
            call = self.calls[state.number]
            message = (call or {}).get("message")
            if call and isinstance(message, Mapping) and "tag" in message:
                numbers = self.members(state, call, remote=True)
                sender = numbers[message["source"]] if message["source"] < len(numbers) else message["source"]
                found.append(self._near_miss(state, call, sender, message["tag"]))
        for state in self.states:
            for sender, event in self._blocked_sends(state.number):
                call = self.calls[state.number]
                if call and str(call["name"]) in RECEIVES and event.tag is not None:
                    found.append(self._near_miss(state, call, sender, event.tag))
        return list(dict.fromkeys(each for each in found if each is not None))

    def _near_miss(self, state: RankPosition, call: Mapping[str, Any], sender: int, tag: int) -> NearMiss | None:
        wanted = next((event for event in self.events(state, call) if event.kind == "receive"), None)
        if wanted is None:
            return None
        if wanted.tag is not None and wanted.tag != tag:
            return NearMiss(state.number, sender, tag, f"but this receive waits for tag {wanted.tag}")
        if wanted.peer is not None and wanted.awaits != (sender,):
            return NearMiss(state.number, sender, tag, f"but this receive waits for source {wanted.peer}")
        return None

    def _blocked_sends(self, receiver: int) -> list[tuple[int, AwaitedEvent]]:
        found = []
        for state in self.states:
            call = self.calls[state.number]
            if call and str(call.get("name")) in SENDS - RECEIVES:
                found += [(state.number, event) for event in self.events(state, call) if event.awaits == (receiver,)]
        return found


def main_call(state: RankPosition) -> Mapping[str, Any] | None:
    """Return the MPI call of the main thread, or else of another thread; of a wait, the collective call to complete."""
    for thread in state.threads if state.kind == "python" else ():
        call = blocking_call(thread)
        if call is not None and is_mpi(call):
            made = call.get("made")
            return made if isinstance(made, Mapping) and operation(made) else call
    return None


def _with_arguments(call: Mapping[str, Any]) -> str:
    return f"{call['name']}({', '.join(_shown(each) for each in call.get('arguments', ()))})"


def _shown(argument: Mapping[str, Any]) -> str:
    """Return an argument as text: its value if that is a number, otherwise its source."""
    text, found = str(argument["text"]), argument.get("value")
    if isinstance(found, int | float) and not isinstance(found, bool):
        text = str(found)
    return f"{argument['keyword']}={text}" if argument.get("keyword") else text


def _of_comm(call: Mapping[str, Any], waits: Waits, state: RankPosition) -> str:
    """Return the words about the communicator, unless all ranks of the group are its members, in their order."""
    comm = call.get("comm") or {}
    if "group" not in comm or waits.members(state, call) == waits._world(state):
        return "" if "remote" not in comm else f" in {call['function'].rpartition('.')[0]} (an intercommunicator)"
    kind = "an intercommunicator" if "remote" in comm else f"of {comm['size']} ranks"
    return f" in {call['function'].rpartition('.')[0]} ({kind})"
