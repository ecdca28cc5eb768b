"""Finalizers, signal handlers and threads that call MPI while a thread waits for the answer to a call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes.harness import HEAD, observe

BETWEEN = """
import signal, sys

def between_question_and_answer(function):
    # Call a function once, when the next call has been sent to the emulator and its answer has not been read.
    def profile(frame, event, arg):
        if frame.f_code.co_name == "read" and "protocol" in frame.f_code.co_filename:
            sys.setprofile(None)
            function()
    sys.setprofile(profile)
"""


def test_finalizers_call_mpi_in_the_middle_of_a_call(tmp_path: Path) -> None:
    """Each call gets its own answer: the interrupted one, and those of the finalizer, also one that calls a function."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD + BETWEEN + "class Owner:\n"
        "    def __init__(self):\n"
        "        self.comm = MPI.COMM_SELF.Dup()\n"
        "        self.request = self.comm.Send_init(bytearray(9), 0)\n"
        "        self.comm.Set_attr(key, 5)\n"
        "    def __del__(self):\n"
        "        if not MPI.Is_finalized():\n"
        "            found.append(self.comm.allreduce([rank]))\n"
        "            self.request.Free()\n"
        "            self.comm.Free()\n"
        "found = []\n"
        "key = MPI.Comm.Create_keyval(delete_fn=lambda comm, key, value: found.append(value))\n"
        "for call in (lambda: comm.allreduce(10), lambda: comm.bcast('x' * 9000), lambda: comm.Get_size(),\n"
        "             lambda: comm.sendrecv(rank, 1 - rank), lambda: comm.allreduce({rank}, lambda a, b: a | b)):\n"
        "    owners = [Owner()]\n"
        "    between_question_and_answer(owners.clear)\n"
        "    found.append(str(call())[:9])\n"
        "print(rank, found)\n",
        encoding="utf-8",
    )
    found = observe([str(script)], 2, True, timeout=100)
    assert found.error == found.err == ""
    expected = [
        f"{rank} {[each for one in ('20', 'x' * 9, '2', str(1 - rank), '{0, 1}') for each in ([rank], 5, one)]}"
        for rank in (0, 1)
    ]
    assert sorted(found.out.splitlines()) == expected


def test_signal_handlers_are_called_after_the_present_call(tmp_path: Path) -> None:
    """As in mpi4py. The handler may call MPI and raise an exception; later calls get their own answers."""
    script = tmp_path / "work.py"
    script.write_text(
        HEAD + BETWEEN + "class OutOfTime(Exception): pass\n"
        "def handler(number, frame):\n"
        "    found.append(comm.sendrecv(rank, 1 - rank))\n"
        "    raise OutOfTime\n"
        "found = []\n"
        "assert signal.signal(signal.SIGUSR1, handler) is signal.SIG_DFL\n"
        "assert signal.getsignal(signal.SIGUSR1) is handler is signal.signal(signal.SIGUSR1, handler)\n"
        "between_question_and_answer(lambda: signal.raise_signal(signal.SIGUSR1))\n"
        "box = bytearray(2)\n"
        "for call in (lambda: comm.allreduce(10), lambda: comm.Sendrecv(bytes(2), 1 - rank, recvbuf=box)):\n"
        "    between_question_and_answer(lambda: signal.raise_signal(signal.SIGUSR1))\n"
        "    try:\n"
        "        call()\n"
        "    except OutOfTime:\n"
        "        found.append('out of time')\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGUSR1)\n"
        "except OutOfTime:\n"
        "    found.append('at once')\n"
        "print(rank, found, comm.allreduce(1))\n",
        encoding="utf-8",
    )
    found = observe([str(script)], 2, True, timeout=100)
    assert found.error == found.err == ""
    assert sorted(found.out.splitlines()) == [
        f"{rank} {[1 - rank, 'out of time', 1 - rank, 'out of time', 1 - rank, 'at once']} 2" for rank in (0, 1)
    ]


@pytest.mark.parametrize(
    ("call", "name"),
    [("comm.Barrier()", "Barrier"), ("comm.Get_rank()", "Get_rank"), ("comm.name", "name"), ("MPI.Status()", "Status")],
)
def test_a_deadlock_report_names_a_thread_that_waits_for_the_call_of_another_one(
    tmp_path: Path, call: str, name: str
) -> None:
    """One thread at a time can call, as `Query_thread` says; attributes and results that are stored are calls, too."""
    script = tmp_path / "work.py"
    script.write_text(
        "from mpi4py import MPI\nimport sys, threading\n"
        "comm = MPI.COMM_WORLD\n"
        "in_call = threading.Event()\n"
        "def profile(frame, event, arg):\n"
        "    if frame.f_code.co_name == 'read':\n"
        "        in_call.set()\n"
        "def listen():\n"
        "    sys.setprofile(profile)\n"
        "    comm.recv()\n"
        "assert MPI.Query_thread() == MPI.THREAD_SERIALIZED\n"
        "threading.Thread(target=listen, name='listener', daemon=True).start()\n"
        "in_call.wait()\n"
        f"{call}\n",
        encoding="utf-8",
    )
    found = observe([str(script)], 2, True, timeout=100)
    where = f"thread 'listener' is in this call, and the main thread waits for it in {name} at work.py:14"
    assert found.error.startswith("DeadlockError: deadlock at")
    assert f"\n  rank 1: {where}. With --processes, one thread of a rank can call MPI at a time;" in found.error
