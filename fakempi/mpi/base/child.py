"""Child tasks: work that goes on in the background of a rank, such as a nonblocking collective."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fakempi.errors import MPIError
from fakempi.kernel.loop import Ended
from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.waiting import Completion


class Child:
    """The body of a child task: it does the work and tells the request. It knows who started it, where, and for what."""

    __slots__ = ("call", "completion", "context", "process", "site", "task", "work")

    def __init__(self, process: Any, context: Any, work: Callable[[], Any], call: str) -> None:
        self.process: Any = process
        self.context = context  # of the communicator on which it works
        self.work: Any = work
        found, frame = public_call(sys._getframe(1))
        self.call, self.site = call or found, site_of(frame)
        self.completion = Completion(self)
        self.task: Any = None

    def __call__(self) -> None:
        """Work; what goes wrong with a message is raised where the rank waits, anything else ends the run."""
        try:
            self.work()
        except MPIError as error:
            if str(error).startswith("begin on "):  # that is what the task began with; the program has called something
                sentence = str(error).partition(": ")[2]
                error = type(error)(error.ierr, f"{self.call} on {self.process.name}: {sentence}")
            self.completion.error = error
        except Ended:
            raise
        except BaseException as error:
            self.process.universe.fail(self.process, error)
            return
        self.completion.complete(self.process.loop.now)
        self.work = self.task = self.completion.why = None  # or each call were a circle that holds its buffers


def start_child(process: Any, context: Any, work: Callable[[], Any], call: str = "") -> Completion:
    """Start to work in the background; returns what to wait for. Of a persistent request, `call` is what prepared it."""
    child = Child(process, context, work, call)
    child.task = process.loop.spawn(child, process)
    return child.completion
