"""Exceptions of workers, sent with their traceback."""

from __future__ import annotations

import traceback
from typing import Any

from fakempi import MPI
from fakempi.errors import text_of


class RemoteTraceback(Exception):
    """The cause of an exception of a worker: the traceback on the worker."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class PicklableError:
    """Wrapper of an exception that is unpickled as the exception itself."""

    def __init__(self, error: BaseException, comm: MPI.Comm) -> None:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.text = f'\nOn worker {comm.Get_rank()} of {comm.Get_size()}:\n"""\n{lines}"""'
        self.error = error.with_traceback(None)
        error.__cause__ = error.__context__ = None
        try:
            MPI.pickle.loads(MPI.pickle.dumps(error))
        except Exception as why:
            self.error = RuntimeError(f"{type(error).__name__}: {text_of(error)} (not picklable: {text_of(why)})")

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_cause, (self.error, self.text)


def _with_cause(error: BaseException, text: str) -> BaseException:
    error.__cause__ = RemoteTraceback(text)
    return error
