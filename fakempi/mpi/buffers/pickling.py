"""`MPI.pickle` and its class: which functions turn objects into bytes and back, as every rank wants it for itself."""

from __future__ import annotations

import pickle as _pickle
from collections.abc import Callable, Iterable
from typing import Any

from fakempi.mpi.base.current import current_process
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.parts import PROTOCOL

THRESHOLD = 1 << 18
"""From this size in bytes on, `dumps_oob` leaves memory where it is."""


class PickleSettings:
    """A pair of functions, a protocol (None: the function is not asked for one), and a threshold."""

    __slots__ = ("dump", "load", "protocol", "threshold")

    def __init__(self, dumps: Any = None, loads: Any = None, protocol: Any = None, threshold: Any = None) -> None:
        self.dump: Callable[..., bytes] = _pickle.dumps if dumps is None else dumps
        self.load: Callable[..., Any] = _pickle.loads if loads is None else loads
        self.set_protocol(protocol)
        self.set_threshold(threshold)

    def set_protocol(self, protocol: Any) -> None:
        """Choose a protocol; None is the default, which only the standard library's function has."""
        self.protocol = PROTOCOL if protocol is None and self.dump is _pickle.dumps else protocol

    def set_threshold(self, threshold: Any) -> None:
        """Choose a threshold; None is the default."""
        self.threshold = THRESHOLD if threshold is None else threshold

    def dumps(self, obj: Any) -> bytes:
        """An object as bytes."""
        return self.dump(obj) if self.protocol is None else self.dump(obj, self.protocol)

    def loads(self, data: Any) -> Any:
        """An object from bytes."""
        return self.load(data)


class _Outside:
    """What is set while no rank runs: it holds for all ranks that set nothing themselves."""

    settings: PickleSettings | None = None


outside = _Outside()


class Pickle:
    """Turns objects into bytes and back. `MPI.pickle` is the one that `send`, `recv` and their like use.

    `MPI.pickle.__init__(dill.dumps, dill.loads)` makes them use other functions, on the rank that says so.
    """

    __module__ = "fakempi.MPI"
    __slots__ = ("_own",)

    _own: PickleSettings

    def __init__(
        self,
        dumps: Callable[..., bytes] | None = None,
        loads: Callable[..., Any] | None = None,
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None:
        self._own = PickleSettings(dumps, loads, protocol, threshold)

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle an MPI.Pickle: it holds functions of this process")

    def _settings(self) -> PickleSettings:
        """The settings, to read."""
        return self._own

    def _changing(self) -> PickleSettings:
        """The settings, to change."""
        return self._own

    def dumps(self, obj: Any) -> bytes:
        """An object as bytes."""
        return self._settings().dumps(obj)

    def loads(self, data: Any) -> Any:
        """An object from bytes."""
        return self._settings().loads(data)

    def dumps_oob(self, obj: Any) -> tuple[bytes, list[buffer]]:
        """An object as bytes, and its large pieces of memory, which stay where they are."""
        settings = self._settings()
        pieces: list[buffer] = []

        def keep(piece: Any) -> bool:
            found = buffer.frombuffer(piece)
            if len(found) < settings.threshold:
                return True  # pickle it with the rest
            pieces.append(found)
            return False

        protocol = settings.protocol
        if protocol is None or protocol < 0:
            protocol = PROTOCOL
        return settings.dump(obj, max(protocol, 5), buffer_callback=keep), pieces

    def loads_oob(self, data: Any, buffers: Iterable[Any]) -> Any:
        """An object from bytes and pieces of memory, which become its own."""
        return self._settings().load(data, buffers=buffers)

    @property
    def PROTOCOL(self) -> int | None:
        """The protocol that the function is asked for, if any."""
        protocol: int | None = self._settings().protocol
        return protocol

    @PROTOCOL.setter
    def PROTOCOL(self, value: int | None) -> None:
        self._changing().set_protocol(value)

    @property
    def THRESHOLD(self) -> int:
        """From this size on, memory is kept out of the bytes that `dumps_oob` makes."""
        threshold: int = self._settings().threshold
        return threshold

    @THRESHOLD.setter
    def THRESHOLD(self, value: int | None) -> None:
        self._changing().set_threshold(value)


class _RankPickle(Pickle):
    """The one that every rank shares by name, and no rank shares by what it is set to."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        plain = not args and not kwargs and (outside.settings is None or current_process() is None)
        self._set(None if plain else PickleSettings(*args, **kwargs))

    def _settings(self) -> PickleSettings:
        process = current_process()
        mine: PickleSettings | None = None if process is None else process.pickle
        return mine or outside.settings or _DEFAULTS

    def _changing(self) -> PickleSettings:
        old, process = self._settings(), current_process()
        if old is not (outside.settings if process is None else process.pickle):
            old = PickleSettings(old.dump, old.load, old.protocol, old.threshold)
            self._set(old)
        return old

    @staticmethod
    def _set(settings: PickleSettings | None) -> None:
        process = current_process()
        if process is None:
            outside.settings = settings
        else:
            process.pickle = settings


_DEFAULTS = PickleSettings()
pickle = _RankPickle()
