"""`fakempi run --debug RANK --debug-port N`: an editor attaches, stops at a breakpoint and changes a variable."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("debugpy", reason="debugpy is not installed: pip install debugpy")

PROGRAM = """\
from mpi4py import MPI

comm = MPI.COMM_WORLD
total = comm.allreduce(comm.rank)
print(f"rank {comm.rank}: {total}", flush=True)
"""


class Editor:
    """A client of the Debug Adapter Protocol, as far as the test needs it."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.number = stream, 0

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request; returns its number."""
        self.number += 1
        request = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(request).encode()
        self.stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.stream.flush()
        return self.number

    def wait(self, is_expected: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first message that is expected."""
        while True:
            length = int(self.stream.readline().split(b":")[1])
            self.stream.readline()
            message: dict[str, Any] = json.loads(self.stream.read(length))
            if is_expected(message):
                body: dict[str, Any] = message.get("body", {})
                return body

    def answer(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return the body of its response."""
        number = self.send(command, **arguments)
        return self.wait(lambda message: message.get("request_seq") == number)

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event; returns its body."""
        return self.wait(lambda message: message.get("event") == name)


def connected(port: int) -> socket.socket:
    """A connection to a port on which a rank listens at the latest after a minute."""
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=200)
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"no rank listens on port {port}")


@pytest.mark.slow  # 5 s: debugpy starts a process
def test_an_editor_stops_one_rank_at_a_breakpoint(tmp_path: Path) -> None:
    """The other ranks wait; the rank continues with the variable that the editor changed."""
    script = tmp_path / "work.py"
    script.write_text(PROGRAM, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "fakempi", "run", "-n", "3", "--debug", "1", "--debug-port", str(port), str(script)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        with connected(port) as connection, connection.makefile("rwb") as stream:
            editor = Editor(stream)
            editor.answer("initialize", adapterID="debugpy", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
            editor.send("attach", justMyCode=True)
            editor.event("initialized")
            editor.answer("setBreakpoints", source={"path": str(script)}, breakpoints=[{"line": 5}])
            editor.send("configurationDone")
            thread = editor.event("stopped")["threadId"]
            top = editor.answer("stackTrace", threadId=thread)["stackFrames"][0]
            assert (top["source"]["path"], top["line"]) == (str(script), 5)
            assert editor.answer("evaluate", expression="comm.rank, total", frameId=top["id"])["result"] == "(1, 3)"
            editor.answer("evaluate", expression="total = 99", frameId=top["id"], context="repl")
            editor.send("continue", threadId=thread)
            editor.event("terminated")
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 0, err
    assert sorted(out.splitlines()) == ["rank 0: 3", "rank 1: 99", "rank 2: 3"]
    assert err == f"fakempi: rank 1 waits for a debugger on port {port}\n"
