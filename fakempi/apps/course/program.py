"""Call a function of a student's file on every rank; each rank has its own copy of the module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from fakempi.apps.course.cpu_limit import observe
from fakempi.apps.course.source import without_script
from fakempi.apps.course.values import decode
from fakempi.isolation.program import Program
from fakempi.mpi.base.current import running_process


class LeftEarly(Exception):
    """A rank exited before its function returned."""


class NoFunction(Exception):
    """The file does not define the function."""


class StudentCall(Program):
    """Executes the file without its script part, then calls one of its functions.

    On a rank it returns the function's return value. Arguments are decoded for each call, since programs may change arrays.
    """

    def __init__(self, file: Path, function: str, arguments: Sequence[Any] | None, with_comm: bool = True) -> None:
        super().__init__(["-c", "", str(file)])
        self.path, self.function, self.arguments, self.with_comm = file, function, arguments, with_comm
        self.directory = str(file.parent)
        self.argv = [str(file)]
        self.code = _compiled(file.read_text(encoding="utf-8"), str(file))
        self.results: dict[int, Any] = {}

    def __call__(self, comm: Any) -> Any:
        """Run on a rank, and return the function's value."""
        observe(running_process().universe)
        number = running_process().number
        self.results.pop(number, None)
        super().__call__(comm)
        if number not in self.results:
            raise LeftEarly(self.function)
        return self.results.pop(number)

    def _execute(self) -> None:
        main: Any = sys.modules["__main__"]
        main.__file__ = str(self.path)
        super()._execute()
        function: Callable[..., Any] | None = vars(main).get(self.function)
        if not callable(function):
            raise NoFunction(self.function)
        process = running_process()
        rows = self.arguments
        arguments = () if rows is None else decode(rows[process.number])
        first = (process.comm_world,) if self.with_comm else ()
        self.results[process.number] = function(*first, *arguments)


@lru_cache(maxsize=1)  # the runs of a check share the code, and what fakempi remembers about its lines
def _compiled(text: str, file: str) -> CodeType:
    return compile(without_script(text), file, "exec", dont_inherit=True)
