"""A function of a student's file, called on every rank, each with a copy of the file's module of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fakempi.learn.source import without_script
from fakempi.learn.values import decode
from fakempi.mpi.base.current import running_process
from fakempi.script.program import Program


class LeftEarly(Exception):
    """A rank ended before its function returned."""


class NoFunction(Exception):
    """The file has no such function."""


class Call(Program):
    """The file, without what it does only as a script; then one call of a function in it.

    On a rank it returns what the function returns. Arguments are decoded anew for each call, since programs write to arrays.
    """

    def __init__(self, file: Path, function: str, arguments: Sequence[Any] | None, with_comm: bool = True) -> None:
        super().__init__(["-c", "", str(file)])
        self.path, self.function, self.arguments, self.with_comm = file, function, arguments, with_comm
        self.folder = str(file.parent)
        self.argv = [str(file)]
        self.code = compile(without_script(file.read_text(encoding="utf-8")), str(file), "exec", dont_inherit=True)
        self.results: dict[int, Any] = {}

    def __call__(self, comm: Any) -> Any:
        """On a rank."""
        number = running_process().number
        self.results.pop(number, None)
        super().__call__(comm)
        if number not in self.results:
            raise LeftEarly(self.function)
        return self.results.pop(number)

    def _execute(self) -> None:
        main: Any = sys.modules["__main__"]
        vars(main).update(__file__=str(self.path))
        super()._execute()
        function: Callable[..., Any] | None = vars(main).get(self.function)
        if not callable(function):
            raise NoFunction(self.function)
        process = running_process()
        rows = self.arguments
        arguments = () if rows is None else decode(rows[process.number])
        first = (process.comm_world,) if self.with_comm else ()
        self.results[process.number] = function(*first, *arguments)
