"""Sizes of pickled objects: mpi4py calls functions that count the bytes that they write and read."""

from __future__ import annotations

import pickle as standard
from collections.abc import Callable
from typing import Any


class PickleSizes:
    """The sizes of the objects that mpi4py has pickled (`written`) and unpickled (`read`) since the last `clear`."""

    def __init__(self, mpi: Any) -> None:
        self.written: list[int] = []
        self.read: list[int] = []
        self._pickle, self._type = mpi.pickle, mpi.Pickle

    def install(self, replace: Callable[[type[Any], str, Any], None]) -> None:
        """Let mpi4py call functions that count, also if the program chooses other ones (`MPI.pickle.__init__(dill...)`)."""
        original, pickle, protocol = self._type.__init__, self._pickle, self._pickle.PROTOCOL
        dumps, loads = self._dumps, self._loads

        def __init__(self: Any, *args: Any, **keywords: Any) -> None:
            if self is pickle:
                values = dict(zip(("dumps", "loads", "protocol", "threshold"), args, strict=False)) | keywords
                if values.get("dumps") is None and values.get("protocol") is None:
                    values["protocol"] = protocol
                values["dumps"] = dumps(values.get("dumps") or standard.dumps)
                values["loads"] = loads(values.get("loads") or standard.loads)
                original(self, **values)
            else:
                original(self, *args, **keywords)

        replace(self._type, "__init__", __init__)
        __init__(pickle)

    def clear(self) -> None:
        """Forget all sizes: a call begins."""
        self.written.clear()
        self.read.clear()

    def _dumps(self, function: Any) -> Any:
        written = self.written

        def dumps(*args: Any, **keywords: Any) -> Any:
            found = function(*args, **keywords)
            written.append(len(found))
            return found

        return dumps

    def _loads(self, function: Any) -> Any:
        read = self.read

        def loads(data: Any, *args: Any, **keywords: Any) -> Any:
            read.append(len(data))
            return function(data, *args, **keywords)

        return loads
