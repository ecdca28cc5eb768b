"""`MPI.pickle` and its class: the functions that pickle and unpickle objects. Each rank has its own settings."""

from __future__ import annotations

import pickle as _pickle
from collections.abc import Callable, Iterable
from typing import Any, Final, overload

from fakempi.mpi.base.current import current_process
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.out_of_band import PROTOCOL
from fakempi.mpi.interfaces.buffers import Buffer

Dumps = Callable[..., bytes]
Loads = Callable[..., Any]
THRESHOLD = 1 << 18
"""The size in bytes from which `dumps_oob` does not copy a buffer."""


class PickleSettings:
    """A pair of functions, a protocol (None: it is not passed to the function), and a threshold."""

    __slots__ = ("dump", "load", "protocol", "threshold")

    def __init__(
        self,
        dumps: Dumps | None = None,
        loads: Loads | None = None,
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None:
        self.dump: Dumps = _pickle.dumps if dumps is None else dumps
        self.load: Loads = _pickle.loads if loads is None else loads
        self.set_protocol(protocol)
        self.set_threshold(threshold)

    def set_protocol(self, protocol: int | None) -> None:
        """Set the protocol; None is the default of the standard library's function, and no protocol for other functions."""
        self.protocol = PROTOCOL if protocol is None and self.dump is _pickle.dumps else protocol

    def set_threshold(self, threshold: int | None) -> None:
        """Set the threshold; None is the default."""
        self.threshold = THRESHOLD if threshold is None else threshold

    def dumps(self, obj: object) -> bytes:
        """Pickle an object."""
        return self.dump(obj) if self.protocol is None else self.dump(obj, self.protocol)

    def loads(self, data: Buffer) -> Any:
        """Unpickle an object."""
        return self.load(data)


class _ProcessWide:
    """Settings made outside a run: the defaults of all ranks."""

    settings: PickleSettings | None = None


process_wide = _ProcessWide()


class Pickle:
    """Pickles and unpickles objects. `send`, `recv` and similar calls use the object `MPI.pickle`.

    `MPI.pickle.__init__(dill.dumps, dill.loads)` sets other functions for the calling rank.
    """

    __module__ = "fakempi.MPI"
    __slots__ = ("_own",)

    _own: PickleSettings

    @overload
    def __init__(
        self,
        dumps: Callable[[Any, int], bytes],
        loads: Callable[[Buffer], Any],
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self, dumps: Callable[[Any], bytes] | None = None, loads: Callable[[Buffer], Any] | None = None
    ) -> None: ...
    def __init__(
        self,
        dumps: Callable[..., bytes] | None = None,
        loads: Callable[..., Any] | None = None,
        protocol: int | None = None,
        threshold: int | None = None,
    ) -> None:
        self._own = PickleSettings(dumps, loads, protocol, threshold)

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("cannot pickle an MPI.Pickle: it holds functions of this process")

    def _settings(self) -> PickleSettings:
        """The settings, to read."""
        return self._own

    def _changing(self) -> PickleSettings:
        """The settings, to change."""
        return self._own

    def dumps(self, obj: Any) -> bytes:
        """Pickle an object."""
        return self._settings().dumps(obj)

    def loads(self, data: Buffer) -> Any:
        """Unpickle an object."""
        return self._settings().loads(data)

    def dumps_oob(self, obj: Any) -> tuple[bytes, list[buffer]]:
        """Pickle an object, with its large buffers out of band: they are not copied."""
        settings = self._settings()
        buffers: list[buffer] = []

        def is_in_band(part: _pickle.PickleBuffer) -> bool:
            memory = buffer.frombuffer(part)
            if len(memory) < settings.threshold:
                return True
            buffers.append(memory)
            return False

        protocol = settings.protocol
        if protocol is None or protocol < 0:
            protocol = PROTOCOL
        return settings.dump(obj, max(protocol, 5), buffer_callback=is_in_band), buffers

    def loads_oob(self, data: Buffer, buffers: Iterable[Buffer]) -> Any:
        """Unpickle an object with out-of-band buffers, which become part of the object."""
        return self._settings().load(data, buffers=buffers)

    @property
    def PROTOCOL(self) -> int | None:
        """The protocol that is passed to the function, if any."""
        protocol: int | None = self._settings().protocol
        return protocol

    @PROTOCOL.setter
    def PROTOCOL(self, value: int | None) -> None:
        self._changing().set_protocol(value)

    @property
    def THRESHOLD(self) -> int:
        """The size in bytes from which buffers are out of band in `dumps_oob`."""
        threshold: int = self._settings().threshold
        return threshold

    @THRESHOLD.setter
    def THRESHOLD(self, value: int | None) -> None:
        self._changing().set_threshold(value)


class _RankPickle(Pickle):
    """The object `MPI.pickle`: one object for all ranks, with settings for each rank."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        is_default = not args and not kwargs and (process_wide.settings is None or current_process() is None)
        self._set(None if is_default else PickleSettings(*args, **kwargs))

    def _settings(self) -> PickleSettings:
        process = current_process()
        own: PickleSettings | None = None if process is None else process.pickle
        return own or process_wide.settings or _DEFAULTS

    def _changing(self) -> PickleSettings:
        settings, process = self._settings(), current_process()
        if settings is not (process_wide.settings if process is None else process.pickle):
            settings = PickleSettings(settings.dump, settings.load, settings.protocol, settings.threshold)
            self._set(settings)
        return settings

    @staticmethod
    def _set(settings: PickleSettings | None) -> None:
        process = current_process()
        if process is None:
            process_wide.settings = settings
        else:
            process.pickle = settings


_DEFAULTS = PickleSettings()
pickle: Final[Pickle] = _RankPickle()
