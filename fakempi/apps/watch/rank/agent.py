"""The thread in each rank that answers the watcher: has this process moved, and where is it?

The thread waits in the kernel for a request, at most one per second, so the program is not slower. Only modules in C are
imported at the start (`_socket`, `_thread`); json and the modules that look at frames are imported at the first request.
gevent and similar packages replace functions of `socket` and `threading`, but not these. Requests are the words in
`Agent.ANSWERS` and carry no code.
"""

from __future__ import annotations

import _thread
import atexit
import io
import os
import sys
from _socket import AF_INET, AF_UNIX, SOCK_STREAM, socket
from collections.abc import Mapping
from contextlib import suppress
from select import POLLIN, poll
from time import sleep
from typing import Any

RANK_VARIABLES = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID")
SIZE_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS")
JOB_VARIABLES = ("PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid", "SLURM_STEP_ID")
MARK = "FAKEMPI_WATCH_RANK"
"""The variable by which a subprocess of a rank knows that it is not that rank: the rank's process and launcher."""

KEPT = 2000
"""The number of bytes of output that are remembered."""


def helper(name: str) -> Any:
    """Return another module of this directory, imported when it is first needed."""
    return __import__(f"{__name__.rpartition('.')[0]}.{name}", fromlist=["*"])


def start(environment: Mapping[str, str]) -> Agent | None:
    """Connect to the watcher; returns None in a subprocess of a rank, which is not watched."""
    launched = ",".join(environment.get(name, "") for name in (*RANK_VARIABLES, *JOB_VARIABLES, "PMI_FD"))
    mark = environment.get(MARK)
    if mark is not None and mark.partition(":")[0] != str(os.getpid()) and mark.partition(":")[2] == launched:
        return None
    os.environ[MARK] = f"{os.getpid()}:{launched}"
    agent = Agent(environment["FAKEMPI_WATCH"], environment.get("FAKEMPI_WATCH_TOKEN", ""))
    agent.connect(environment)
    return agent


def first_number(environment: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    """Return the value of the first of these variables that is a number."""
    return next((int(environment[name]) for name in names if environment.get(name, "").isdigit()), None)


class LastOutput(io.FileIO):
    """A standard stream that remembers the end of its output; it costs one slice per flush of the stream's buffer."""

    tail = b""

    def write(self, data: Any) -> int:
        """Write the data, and remember the end."""
        view = memoryview(data)
        self.tail = (self.tail + bytes(view[-KEPT:]))[-KEPT:]
        return super().write(data)


class Agent:
    """The connection of this process to the watcher, and the thread that answers."""

    ANSWERS = ("sample", "report", "junit", "end", "stop")

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        self.streams: dict[str, LastOutput] = {}
        self.exit: dict[str, object] = {}  # the call of sys.exit, if there was one
        self.sending = _thread.allocate_lock()
        self.main = _thread.get_ident()
        self.pid = os.getpid()
        self.motion: Any = None
        self.stack_file = -1
        self.wake = os.pipe()  # ends the thread
        self.ended = _thread.allocate_lock()
        self.pending = b""

    def connect(self, environment: Mapping[str, str]) -> None:
        """Register this process, start the thread, and prepare for the end of the process."""
        kind, _, place = self.address.partition(":")
        if kind == "unix":
            self.socket = socket(AF_UNIX, SOCK_STREAM)
            self.socket.connect(place)
            self._register_fallback(os.path.dirname(place))
        else:
            host, _, port = place.rpartition(":")
            self.socket = socket(AF_INET, SOCK_STREAM)
            self.socket.settimeout(10)
            self.socket.connect((host, int(port)))
            self.socket.settimeout(None)
        rank = first_number(environment, RANK_VARIABLES)
        self.send({
            "hello": self.token, "pid": self.pid, "ppid": os.getppid(), "host": os.uname().nodename, "rank": rank,
            "size": first_number(environment, SIZE_VARIABLES), "python": list(sys.version_info[:3]),
            "job": next((environment[name] for name in JOB_VARIABLES if name in environment), ""),
            "signal": self.fallback_signal if self.stack_file >= 0 else 0,
        })  # fmt: skip
        if rank is not None:
            self._remember_output()
        self._remember_exit()
        atexit.register(self._leave)  # the first to be registered is the last to run: after it, MPI_Finalize
        if sys.version_info >= (3, 12):  # a fork in a process with several threads is a warning
            os.register_at_fork(before=self._pause, after_in_parent=self._resume)
        os.register_at_fork(after_in_child=self._in_child)
        self._resume()

    def send(self, message: Mapping[str, object]) -> None:
        """Send one line of JSON."""
        from json import dumps

        data = dumps(message, default=str).encode() + b"\n"
        with self.sending:
            self.socket.sendall(data)

    # -- preparations ------------------------------------------------------------------------------------------------

    def _register_fallback(self, directory: str) -> None:
        """Let a signal write the Python line to a file, also while C code holds the interpreter lock."""
        import faulthandler
        import signal

        self.fallback_signal = int(signal.SIGRTMAX) - 3
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self.stack_file = os.open(os.path.join(directory, f"stack-{self.pid}"), flags, 0o600)
        faulthandler.register(self.fallback_signal, file=self.stack_file, all_threads=True)

    def _remember_output(self) -> None:
        sys.stdout = sys.__stdout__ = self._remembering(sys.stdout, "stdout")  # type: ignore[misc]  # final in typeshed
        sys.stderr = sys.__stderr__ = self._remembering(sys.stderr, "stderr")  # type: ignore[misc]  # final in typeshed

    def _remembering(self, stream: Any, name: str) -> Any:
        """Return a stream with the same settings that remembers the end of its output."""
        if not isinstance(stream, io.TextIOWrapper):
            return stream  # closed
        stream.flush()
        raw = self.streams[name] = LastOutput(stream.fileno(), "w", closefd=False)
        buffer: Any = raw if isinstance(stream.buffer, io.FileIO) else io.BufferedWriter(raw)  # unbuffered with `python -u`
        new: Any = io.TextIOWrapper(
            buffer, stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
        )
        new.mode = "w"
        return new

    def _remember_exit(self) -> None:
        """Let `sys.exit` record its line: SystemExit leaves no traceback."""
        original = sys.exit

        def exit(status: Any = None, /) -> None:
            if _thread.get_ident() == self.main:
                frame = sys._getframe(1)
                self.exit = {"file": frame.f_code.co_filename, "line": frame.f_lineno, "status": str(status)[:200]}
            original(status)

        exit.__doc__, exit.__module__ = original.__doc__, "sys"
        sys.exit = exit  # type: ignore[assignment]  # exit returns None for mypy

    # -- the thread --------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Start the thread."""
        self.ended.acquire(False)
        _thread.start_new_thread(self._serve, ())

    def _pause(self) -> None:
        """End the thread before a fork; `_resume` starts another one."""
        before = len(os.listdir("/proc/self/task"))
        os.write(self.wake[1], b"x")
        self.ended.acquire(timeout=1)
        for _ in range(50):  # the thread of the system ends a moment later than that of Python
            if len(os.listdir("/proc/self/task")) < before:
                break
            sleep(0.001)

    def _serve(self) -> None:
        events = poll()
        events.register(self.socket.fileno(), POLLIN)
        events.register(self.wake[0], POLLIN)
        try:
            while True:
                ready = {descriptor for descriptor, _ in events.poll()}
                if self.wake[0] in ready:
                    os.read(self.wake[0], 1)
                    break
                data = self.socket.recv(4096)
                if not data:
                    break  # the watcher has ended
                *lines, self.pending = (self.pending + data).split(b"\n")
                for line in lines:
                    word, _, argument = line.decode().partition(" ")
                    if word in self.ANSWERS:
                        self._answer(word, argument)
        except OSError:
            pass  # so has the connection
        self.ended.release()

    def _answer(self, word: str, argument: str) -> None:
        try:
            answer = getattr(self, f"_{word}")(argument)
        except Exception as error:
            answer = {"error": repr(error)}
        self.send({word: answer, "number": argument})

    def _sample(self, argument: str) -> dict[str, object]:
        if self.motion is None:
            self.motion = helper("motion").Motion(self.main, lambda frame: helper("calls").describe(frame))
        mpi = sys.modules.get("mpi4py.MPI")
        return {**self.motion.sample(helper("frames").current_frames()), "mpi": mpi is not None, "test": self._test()}

    def _report(self, argument: str) -> dict[str, object]:
        frames = helper("frames").current_frames()
        return {
            "flushed": self._end(argument),
            "threads": helper("stacks").threads(frames, self.main, _thread.get_ident(), helper("calls")),
            "test": self._test(), "output": self._output(), "argv": getattr(sys, "orig_argv", sys.argv)[:50],
            "exit": self.exit, "directory": os.getcwd(),
        }  # fmt: skip

    def _junit(self, argument: str) -> dict[str, object]:
        return {"file": helper("junit").write(helper("frames").current_frames().get(self.main))}

    def _end(self, argument: str) -> dict[str, object]:
        """Flush the output, so that the log is complete, before the watcher ends the job."""
        done = _thread.allocate_lock()
        done.acquire()

        def flush() -> None:  # in another thread, as the main thread may hold the lock of the stream
            self._flush()
            done.release()

        _thread.start_new_thread(flush, ())
        return {"flushed": done.acquire(timeout=1)}

    def _stop(self, argument: str) -> dict[str, object]:
        """End this rank, which may be on another host than the watcher; its launcher ends the others."""
        os.kill(self.pid, 15)
        return {}

    def _test(self) -> str:
        """Return the test that pytest runs: it stores the name in the environment."""
        return os.environ.get("PYTEST_CURRENT_TEST", "") if "_pytest" in sys.modules else ""  # or of a parent process

    def _flush(self) -> None:
        for name in self.streams:
            with suppress(OSError, ValueError, AttributeError):  # the program has closed or replaced it
                getattr(sys, name).flush()

    def _output(self) -> dict[str, str]:
        """Return the last line of each stream."""
        lines = {name: raw.tail.decode(errors="replace").rstrip().splitlines() for name, raw in self.streams.items()}
        return {name: text[-1][:300] for name, text in lines.items() if text}

    # -- the end -----------------------------------------------------------------------------------------------------

    def _leave(self) -> None:
        """Report that the program has ended. The end of the interpreter and MPI_Finalize follow."""
        if os.getpid() != self.pid:
            return
        self._flush()
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        record: dict[str, object] = {"exit": self.exit, "output": self._output(), "test": self._test()}
        try:
            if error is not None:
                record.update(helper("stacks").raised(error))
            self.send({"leave": record})
        except Exception as error:  # the watcher has ended, or the interpreter lacks what it needs
            if os.environ.get("FAKEMPI_WATCH_DEBUG"):
                os.write(2, f"fakempi watch: {error!r}\n".encode())

    def _in_child(self) -> None:
        """A forked process is not the rank: close its copy of the connection, so that the end of the rank is noticed."""
        self.socket.close()
